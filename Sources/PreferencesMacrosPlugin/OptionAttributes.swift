#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

extension VariableDeclSyntax {
    /// The problem of a second `@Options`; the fix-it writes one with the options of all, in the place of the first.
    var problemOfRepeatedOptions: Diagnostic? {
        let written = attributes.named("Options")
        guard let place = written.dropFirst().first else { return nil }
        let options = written.flatMap(\.labeledArguments).map(\.expression.trimmedDescription)
        let combined = "@Options(\(options.joined(separator: ", ")))"
        var rewritten = self
        rewritten.attributes = []
        for element in attributes {
            guard let attribute = element.as(AttributeSyntax.self), attribute.simpleName == "Options" else {
                rewritten.attributes.append(element)
                continue
            }
            if attribute.id == written[0].id {
                var one = AttributeListSyntax.Element.attribute("\(raw: combined)")
                one.leadingTrivia = attribute.leadingTrivia
                rewritten.attributes.append(one)
            }
            if let last = rewritten.attributes.indices.last {
                rewritten.attributes[last].trailingTrivia = attribute.trailingTrivia
            }
        }
        rewritten.leadingTrivia = leadingTrivia
        let advice = "write '\(combined.contains(where: \.isNewline) ? "@Options(…)" : combined)'"
        return place.problem(
            "a preference has one '@Options': \(advice)",
            fixIts: [.replacing(self, with: rewritten, advice)]
        )
    }
}
#endif
