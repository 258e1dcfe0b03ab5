#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// The text of a diagnostic or of a fix-it.
struct Message: DiagnosticMessage, FixItMessage {
    let message: String
    let severity = DiagnosticSeverity.error

    var diagnosticID: MessageID { MessageID(domain: "PreferencesMacros", id: message) }
    var fixItID: MessageID { diagnosticID }
}

extension SyntaxProtocol {
    /// Returns an error at this node, with a fix-it if there are changes.
    func problem(_ message: String, fixIt: String? = nil, _ changes: FixIt.Change...) -> Diagnostic {
        problem(message, fixIts: fixIt.map { [FixIt(message: Message(message: $0), changes: changes)] } ?? [])
    }

    func problem(_ message: String, fixIts: [FixIt]) -> Diagnostic {
        Diagnostic(node: self, message: Message(message: message), fixIts: fixIts)
    }
}

extension FixIt {
    /// Returns a fix-it that replaces a node.
    static func replacing<Node: SyntaxProtocol>(_ node: Node, with new: Node, _ message: String) -> FixIt {
        FixIt(message: Message(message: message), changes: [.replace(oldNode: Syntax(node), newNode: Syntax(new))])
    }

    /// Returns a fix-it that writes an attribute before a declaration.
    static func adding(_ attribute: String, to variable: VariableDeclSyntax, _ message: String) -> [FixIt] {
        guard let first = variable.firstToken(viewMode: .sourceAccurate) else { return [] }
        return [.replacing(first, with: first.with(\.tokenKind, .identifier("\(attribute) \(first.text)")), message)]
    }

    /// Returns a fix-it that removes attributes of a declaration.
    static func removing(_ names: Set<String>, from variable: VariableDeclSyntax) -> FixIt {
        .replacing(
            variable,
            with: variable.without(names),
            "remove \(names.sorted().map { "'@\($0)'" }.joined(separator: " and "))"
        )
    }
}

extension VariableDeclSyntax {
    /// Returns the same declaration without some of its attributes.
    func without(_ names: Set<String>) -> VariableDeclSyntax {
        var result = self
        result.attributes = attributes.filter { attribute in
            attribute.as(AttributeSyntax.self).map { !names.contains($0.simpleName) } ?? true
        }
        result.leadingTrivia = leadingTrivia
        return result
    }
}
#endif
