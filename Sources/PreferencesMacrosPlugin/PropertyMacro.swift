#if Macros
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The property of a class: a peer that holds its preference, or its transient value, and accessors for the value.
struct PropertyMacro {
    /// Expansions keep the format in which defaults and options are written.
    static var formatMode: FormatMode { .disabled }
}

extension PropertyMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let peer = declaration.as(VariableDeclSyntax.self)?.peerName else { return [] }
        return ["get { \(raw: peer).value }", "set { \(raw: peer).value = newValue }"]
    }
}

extension PropertyMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first,
            let peer = variable.peerName
        else { return [] }
        let name = peer.filter { $0 != "`" }.dropFirst()
        let type = binding.typeAnnotation?.type.trimmed
        let value = binding.initializer?.value.trimmedDescription
        let access =
            variable.modifiers.first { $0.name.isAccessLevel && $0.detail == nil }.map { "\($0.name.text) " } ?? ""
        let specialized = type.map { "<\($0)>" } ?? ""
        guard node.simpleName == "_PreferenceProperty" else {
            return [
                """
                \(raw: access)nonisolated let \(raw: peer) = \(raw: Host.module)._TransientValue\(raw: specialized)(\(raw: value ?? "nil"))
                """
            ]
        }
        let stored = node.labeledArguments.first?.expression.trimmedDescription
        let description = node.labeledArguments.dropFirst().first.map {
            ".description(\($0.expression.trimmedDescription))"
        }
        let all =
            [stored, value.map { "default: \($0)" }] + variable.writtenOptions.map(\.trimmedDescription) + [description]
        return [
            """
            /// The preference of `\(raw: name)`.
            \(raw: access)nonisolated let \(raw: peer) = \(raw: Host.module).Preference\(raw: specialized)(\(raw: all.compactMap { $0 }.joined(separator: ", ")))
            """
        ]
    }
}

extension VariableDeclSyntax {
    /// The name of the peer, in backticks if it needs them.
    fileprivate var peerName: String? {
        bindings.first?.pattern.as(IdentifierPatternSyntax.self).map { "_\($0.identifier.bareName)".asIdentifier }
    }
}
#endif
