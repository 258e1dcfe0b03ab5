#if Macros
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Key`, `@Options` and `@Transient`: `@PreferenceGroup` reads them; outside of a group they are reported.
struct MarkerMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let isInGroup =
            context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
            .map { !$0.attributes.named("PreferenceGroup").isEmpty } ?? false
        let variable = declaration.as(VariableDeclSyntax.self)
        let isOfType = variable?.modifiers.contains { ["static", "class"].contains($0.name.text) } ?? false
        if !isInGroup || variable == nil || isOfType {
            context.diagnose(
                node.problem(
                    "'@\(node.simpleName)' is for the instance properties of a type with '@PreferenceGroup' and has no effect here"
                )
            )
        }
        return []
    }
}
#endif
