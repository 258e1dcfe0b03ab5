#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Key`, `@Rule` and `@Transient`: `@PreferenceGroup` reads them; outside of a group they are reported.
struct MarkerMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let isInGroup =
            context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
            .map { !$0.attributes.named("PreferenceGroup").isEmpty } ?? false
        if !isInGroup || !declaration.is(VariableDeclSyntax.self) {
            context.diagnose(
                node.problem(
                    "'@\(node.simpleName)' is for the properties of a type with '@PreferenceGroup' and has no effect here"
                )
            )
        }
        return []
    }
}
#endif
