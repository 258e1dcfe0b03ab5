#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A property of a group, according to its syntax.
struct Property {
    enum Kind { case preference, transient, other }

    let variable: VariableDeclSyntax
    let kind: Kind
    /// The name in Swift, without backticks.
    let name: String
    /// The type, if it is written.
    let type: TypeSyntax?
    let initialValue: ExprSyntax?
    let storedName: String
    /// The literal names of the option `.formerly`.
    let formerNames: [String]
    let problems: [Diagnostic]

    /// Creates the property of a declaration; `nil` for a static one.
    init?(_ variable: VariableDeclSyntax, in host: Host) {
        if variable.modifiers.contains(where: { ["static", "class"].contains($0.name.text) }) { return nil }
        let binding = variable.bindings.first
        self.variable = variable
        name = binding?.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName ?? ""
        type = binding?.typeAnnotation?.type.trimmed
        initialValue = binding?.initializer?.value.trimmed
        let key = variable.attributes.named("Key").first?.labeledArguments.first
        storedName = host.prefix + (key?.expression.plainText ?? name)
        let former = variable.writtenOptions.compactMap { $0.call(of: "formerly") }.flatMap(\.arguments)
        formerNames = former.compactMap { $0.expression.plainText }
        (kind, problems) = PropertyCheck(variable, in: host).result
    }

    /// The literal name of an explicitly declared preference of the group's store: `@Preference("x")` or `let x = Preference("x", …)`.
    var explicitName: String? {
        var arguments = variable.attributes.named("Preference").first?.labeledArguments
        if arguments == nil, let call = initialValue?.as(FunctionCallExprSyntax.self) {
            let type = call.calledExpression.trimmedDescription.prefix { $0 != "<" }
            if type.split(separator: ".").last == "Preference" { arguments = Array(call.arguments) }
        }
        guard let arguments, let name = arguments.first, name.label == nil,
            !arguments.contains(where: { $0.label?.text == "in" })
        else { return nil }
        return name.expression.plainText
    }

    /// Whether the declaration is inside `#if`.
    var isConditional: Bool {
        var node = variable.parent
        while let current = node, !current.is(MemberBlockSyntax.self) {
            if current.is(IfConfigClauseSyntax.self) { return true }
            node = current.parent
        }
        return false
    }

    /// The options of the preference's declaration: `.range(0...10)`, `.description("How loud it is")`.
    var options: [String] {
        variable.writtenOptions.map(\.trimmedDescription) + (description.map { [".description(\($0))"] } ?? [])
    }

    /// The literal of the description in the documentation comment, unless the options have one.
    var description: String? {
        variable.writtenOptions.contains { $0.call(of: "description") != nil } ? nil : variable.documentation?.literal
    }
}

extension String {
    /// A literal with this value.
    var literal: String { StringLiteralExprSyntax(content: self).description }

    /// The identifier, in backticks if it needs them.
    var asIdentifier: String {
        allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" || !$0.isASCII } ? self : "`\(self)`"
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var bareName: String {
        text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text
    }
}

extension AttributeSyntax {
    /// The last part of the name, without a module and generic arguments.
    var simpleName: String {
        if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
        return attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
    }

    var labeledArguments: [LabeledExprSyntax] {
        guard case .argumentList(let arguments)? = arguments else { return [] }
        return Array(arguments)
    }
}

extension String {
    /// Whether it is written like the name of a type.
    var isTypeName: Bool { first?.isUppercase == true }
}

extension AttributeListSyntax {
    /// The first `#if` that contains markers, wrappers or other macros; the attributes of the language may be there.
    var conditionOfAttributes: IfConfigDeclSyntax? {
        lazy.compactMap { $0.as(IfConfigDeclSyntax.self) }.first { condition in
            condition.clauses.contains { clause in
                guard case .attributes(let attributes)? = clause.elements else { return false }
                return attributes.conditionOfAttributes != nil
                    || attributes.contains { $0.as(AttributeSyntax.self)?.simpleName.isTypeName ?? false }
            }
        }
    }

    func named(_ name: String) -> [AttributeSyntax] {
        compactMap { $0.as(AttributeSyntax.self) }.filter { $0.simpleName == name }
    }
}

extension ExprSyntax {
    /// The text of a string literal on one line, without interpolation and escapes; `nil` for other expressions.
    var plainText: String? {
        guard let literal = self.as(StringLiteralExprSyntax.self), literal.openingQuote.tokenKind == .stringQuote,
            literal.segments.count < 2
        else { return nil }
        guard let segment = literal.segments.first else { return "" }
        guard case .stringSegment(let segment) = segment else { return nil }
        let text = segment.content.text
        return literal.openingPounds == nil && text.contains("\\") ? nil : text
    }

    /// Returns the expression as a call of a static member, such as `.description("…")`; `nil` for other expressions.
    func call(of member: String) -> FunctionCallExprSyntax? {
        guard let call = self.as(FunctionCallExprSyntax.self),
            call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == member
        else { return nil }
        return call
    }
}

extension VariableDeclSyntax {
    /// The arguments of `@Options`.
    var writtenOptions: [ExprSyntax] {
        attributes.named("Options").first?.labeledArguments.map(\.expression) ?? []
    }

    /// The first paragraph of the documentation comment, on one line.
    var documentation: String? {
        var lines: [Substring] = []
        var newlines = 0
        for piece in leadingTrivia.pieces {
            switch piece {
            case .newlines(let count), .carriageReturns(let count), .carriageReturnLineFeeds(let count):
                newlines += count
                continue
            case .spaces, .tabs:
                continue
            case .docLineComment(let text):
                // As in the compiler: an empty line begins another comment, and the last one counts.
                if newlines > 1 { lines = [] }
                lines.append(text.dropFirst(3))
            case .docBlockComment(let text):
                lines = text.dropFirst(3).dropLast(2).split(
                    omittingEmptySubsequences: false,
                    whereSeparator: \.isNewline
                ).map {
                    line in
                    let content = line.drop { $0 == " " || $0 == "\t" }
                    return content.hasPrefix("*") ? content.dropFirst() : content
                }
                // Empty lines before the text aren't a paragraph.
                lines = Array(lines.drop { $0.allSatisfy(\.isWhitespace) })
            default:
                lines = []
            }
            newlines = 0
        }
        let paragraph = lines.map { line in
            let start = line.drop(while: \.isWhitespace)
            return start.reversed().drop(while: \.isWhitespace).reversed()
        }.map { String($0) }.prefix { !$0.isEmpty && !$0.hasPrefix("- ") }
        return paragraph.isEmpty ? nil : paragraph.joined(separator: " ")
    }
}
#endif
