#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@PreferenceGroup`: makes each property of a struct or a final class a preference, and adds the type's conformances.
///
/// The compiler expands each role separately. The one for members reports the problems; the other roles then add only enough to
/// keep the compiler from reporting consequences.
struct PreferenceGroupMacro {
    /// Expansions keep the format in which options are written.
    static var formatMode: FormatMode { .disabled }
}

extension PreferenceGroupMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let host = Host(declaration, node, in: context.lexicalContext)
        let problems = host.problems + host.problemsOfMembers()
        problems.forEach(context.diagnose)
        guard host.problems.isEmpty else { return [] }
        return host.initializer().map { [$0] } ?? []
    }
}

extension PreferenceGroupMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        let host = Host(declaration, node, in: context.lexicalContext)
        guard host.problems.isEmpty, let variable = member.as(VariableDeclSyntax.self),
            let property = Property(variable, in: host), property.problems.isEmpty
        else { return [] }
        switch (property.kind, host.isClass) {
        case (.preference, false):
            return [attribute("Preference", ([property.storedName.literal] + property.options).joined(separator: ", "))]
        case (.preference, true):
            let description = property.description.map { ", description: \($0)" } ?? ""
            return [attribute("_PreferenceProperty", property.storedName.literal + description)]
        case (.transient, true):
            return ["@\(raw: Host.module)._TransientProperty"]
        case (.transient, false), (.other, _):
            return []
        }
    }

    private static func attribute(_ name: String, _ arguments: String) -> AttributeSyntax {
        "@\(raw: Host.module).\(raw: name)(\(raw: arguments))"
    }
}

extension PreferenceGroupMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let host = Host(declaration, node, in: context.lexicalContext)
        guard host.problems.isEmpty else { return [] }
        let names = protocols.map { $0.trimmedDescription.split(separator: ".").last ?? "" }
        var conformances: [String] = []
        if names.contains("PreferenceGroup") { conformances.append("\(Host.module).PreferenceGroup") }
        // In a module that is isolated to the main actor this conformance would be, too; the other one is `Sendable`, so it can't be.
        if names.contains("Observable"), host.isClass { conformances.append("nonisolated \(Host.module).Observable") }
        return try conformances.map { try ExtensionDeclSyntax("extension \(type.trimmed): \(raw: $0) {}") }
    }
}
#endif
