#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// The attributes of a property that have options: `@Options`, and those of an earlier version, `@Rule`, `@Secret` and
/// `@Key(_:migratingFrom:)`.
struct OptionAttributes {
    private let variable: VariableDeclSyntax
    private let attributes: [(attribute: AttributeSyntax, options: [String])]

    init(of variable: VariableDeclSyntax) {
        self.variable = variable
        attributes = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }.compactMap { attribute in
            attribute.options.map { (attribute, $0) }
        }
    }

    /// The problem of an attribute of an earlier version, or of a second `@Options`; the fix-it writes one `@Options`.
    var problem: Diagnostic? {
        let former = attributes.map(\.attribute).filter { $0.simpleName != "Options" }
        guard let place = former.first ?? attributes.dropFirst().first?.attribute else { return nil }
        var names: [String] = []
        for attribute in former {
            let name = attribute.simpleName == "Key" ? "'migratingFrom:'" : "'@\(attribute.simpleName)'"
            if !names.contains(name) { names.append(name) }
        }
        let reason =
            switch names.count {
            case 0: "a preference has one '@Options'"
            case 1: "\(names[0]) is an option now"
            default: "\(names.joined(separator: " and ")) are options now"
            }
        let advice = "write '\(combined.contains(where: \.isNewline) ? "@Options(…)" : combined)'"
        return place.problem("\(reason): \(advice)", fixIts: [.replacing(variable, with: rewritten, advice)])
    }

    /// One `@Options` with the options of all.
    private var combined: String { "@Options(\(attributes.flatMap(\.options).joined(separator: ", ")))" }

    /// The declaration with one `@Options`, in the place of the first of the attributes.
    private var rewritten: VariableDeclSyntax {
        var result = variable
        result.attributes = []
        for element in variable.attributes {
            guard let attribute = element.as(AttributeSyntax.self), attribute.options != nil else {
                result.attributes.append(element)
                continue
            }
            let isFirst = attribute.id == attributes.first?.attribute.id
            var written: [AttributeListSyntax.Element] = []
            if attribute.simpleName == "Key", let name = attribute.labeledArguments.first?.expression {
                written.append(.attribute("@Key(\(name))"))
            }
            if isFirst { written.append(.attribute("\(raw: combined)")) }
            if written.count > 1 { written[0].trailingTrivia = .space }
            if !written.isEmpty { written[0].leadingTrivia = attribute.leadingTrivia }
            result.attributes += written
            if let last = result.attributes.indices.last {
                result.attributes[last].trailingTrivia = attribute.trailingTrivia
            }
        }
        result.leadingTrivia = variable.leadingTrivia
        return result
    }
}

extension AttributeSyntax {
    /// The options that the attribute gives to a property; `nil` for other attributes.
    fileprivate var options: [String]? {
        let arguments = labeledArguments.map(\.expression.trimmedDescription)
        return switch simpleName {
        case "Options", "Rule": arguments
        case "Secret": [".secret"]
        case "Key" where arguments.count > 1: [".formerly(\(arguments.dropFirst().joined(separator: ", ")))"]
        default: nil
        }
    }
}
#endif
