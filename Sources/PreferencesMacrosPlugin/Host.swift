#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A type with `@PreferenceGroup`.
struct Host {
    /// The module through which the expansions refer to this library and to the modules that it exports: the user may well have a type
    /// named `Preferences`, which hides the module of that name.
    static let module = "PreferencesMacros"

    let declaration: any DeclGroupSyntax
    let isClass: Bool
    /// The beginning of each stored name.
    let prefix: String
    /// The reasons why nothing is expanded.
    private(set) var problems: [Diagnostic] = []
    private let context: [Syntax]

    init(_ declaration: some DeclGroupSyntax, _ attribute: AttributeSyntax, in context: [Syntax]) {
        self.declaration = declaration
        self.context = context
        isClass = declaration.is(ClassDeclSyntax.self)
        let argument = attribute.labeledArguments.first
        prefix = argument.flatMap { $0.expression.plainText } ?? ""
        if let argument, argument.expression.plainText == nil {
            problems.append(argument.expression.problem("the prefix must be a plain string literal, as in \"player.\""))
        }
        problems += problemsOfKind() + problemsOfScope()
    }

    /// The access level of the added members, with a trailing space; empty for the default one.
    var access: String {
        let modifiers = [declaration.modifiers, context.first?.as(ExtensionDeclSyntax.self)?.modifiers].compactMap {
            $0
        }
        let levels = modifiers.compactMap { $0.first { $0.name.isAccessLevel }?.name.text }
        switch levels.first {
        case "public", "open": return "public "
        case "package": return "package "
        default: return ""
        }
    }

    /// All properties, including those inside `#if`.
    var properties: [Property] {
        declarations.compactMap { $0.as(VariableDeclSyntax.self) }.compactMap { Property($0, in: self) }
    }

    private var declarations: [DeclSyntax] { Self.declarations(of: declaration.memberBlock.members) }

    private static func declarations(of members: MemberBlockItemListSyntax) -> [DeclSyntax] {
        members.flatMap { member -> [DeclSyntax] in
            guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { return [member.decl] }
            return condition.clauses.flatMap { clause in
                guard case .decls(let members)? = clause.elements else { return [DeclSyntax]() }
                return declarations(of: members)
            }
        }
    }

    /// Whether the type declares `init()`.
    var hasInitializer: Bool {
        declarations.contains {
            $0.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters.isEmpty ?? false
        }
    }

    // MARK: Added members

    /// Returns `init() {}`, unless the compiler provides one that is as visible as the type.
    func initializer() -> DeclSyntax? {
        // An Objective-C class inherits one.
        let isInherited = declaration.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription == "NSObject"
        if hasInitializer || isInherited { return nil }
        return """
            /// Creates the group over the store that is bound now: the standard one, unless `init(in:)` binds another.
            \(raw: access)nonisolated init() {}
            """
    }

    // MARK: Problems

    private func problemsOfKind() -> [Diagnostic] {
        if let observable = declaration.attributes.named("Observable").first {
            let rest = declaration.attributes.filter { $0.as(AttributeSyntax.self)?.id != observable.id }
            return [
                observable.problem(
                    "'@PreferenceGroup' already makes a class observable, and '@Observable' would add the same accessors again",
                    fixIts: [.replacing(declaration.attributes, with: rest, "remove '@Observable'")]
                )
            ]
        }
        if let type = declaration.as(ClassDeclSyntax.self) {
            if type.modifiers.contains(where: { $0.name.text == "final" }) { return [] }
            let open = type.modifiers.first { $0.name.text == "open" }
            let place = open?.name ?? type.classKeyword
            return [
                type.name.problem(
                    "a class with '@PreferenceGroup' must be final, as it is 'Sendable'",
                    fixIt: "add 'final'",
                    .replace(
                        oldNode: Syntax(place),
                        newNode: Syntax(
                            place.with(\.tokenKind, .identifier(open == nil ? "final class" : "public final"))
                        )
                    )
                )
            ]
        }
        if declaration.is(StructDeclSyntax.self) { return [] }
        return [declaration.introducer.problem("'@PreferenceGroup' is for a struct or a final class")]
    }

    private func problemsOfScope() -> [Diagnostic] {
        // The innermost comes first.
        let generics = ([Syntax(declaration)] + context).lazy.compactMap {
            $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause
        }
        if let generics = generics.first {
            return [
                (generics.root == declaration.root ? Syntax(generics) : Syntax(declaration.introducer)).problem(
                    "a type with '@PreferenceGroup' can't be generic, nor inside a generic type: all its types would share the stored names; use the types that "
                        + "are stored, or declare a 'Preference' with the name and store that each of them needs"
                )
            ]
        }
        let isPrivate = declaration.modifiers.first { $0.name.text == "private" }
        if let isPrivate, !context.isEmpty, !isConforming {
            // The conformances are added in an extension, at the level of the file.
            return [
                isPrivate.problem(
                    "inside another type a type with '@PreferenceGroup' can't be private, as the extension with its conformances "
                        + "couldn't name it",
                    fixIts: [
                        .replacing(
                            isPrivate.name,
                            with: isPrivate.name.with(\.tokenKind, .keyword(.fileprivate)),
                            "write 'fileprivate'"
                        )
                    ]
                )
            ]
        }
        let modifier = declaration.modifiers.first { $0.name.text == "nonisolated" && $0.detail == nil }
        if let modifier, !isClass {
            // The compiler's own message, for each property separately, gives no advice.
            return [
                modifier.problem(
                    "a struct with '@PreferenceGroup' is never on the main actor, and 'nonisolated' keeps it from having "
                        + "properties with a wrapper",
                    fixIts: [removing(modifier)]
                )
            ]
        }
        return []
    }

    /// Whether the conformances that would be added are already declared.
    private var isConforming: Bool {
        let names = (declaration.inheritanceClause?.inheritedTypes ?? []).map {
            $0.type.trimmedDescription.split(separator: ".").last ?? ""
        }
        return names.contains("PreferenceGroup") && (!isClass || names.contains("Observable"))
    }

    private func removing(_ modifier: DeclModifierSyntax) -> FixIt {
        let rest = declaration.modifiers.filter { $0.id != modifier.id }
        var changes = [FixIt.Change.replace(oldNode: Syntax(declaration.modifiers), newNode: Syntax(rest))]
        // The comments before the first token are kept.
        if rest.isEmpty {
            changes.append(.replaceLeadingTrivia(token: declaration.introducer, newTrivia: modifier.leadingTrivia))
        }
        return FixIt(message: Message(message: "remove 'nonisolated'"), changes: changes)
    }

    /// Returns the problems of the properties; of two with the same stored name, the second has the problem.
    func problemsOfMembers() -> [Diagnostic] {
        guard problems.isEmpty else { return [] }
        let properties = properties
        var problems = properties.flatMap(\.problems)
        let preferences = properties.filter { $0.kind == .preference && $0.problems.isEmpty }
        // Only one of several properties under `#if` may exist, but each exists together with all that are under none.
        let certain = preferences.filter { !$0.isConditional }
        var names = Set(properties.compactMap(\.explicitName))
        for property in certain + preferences.filter(\.isConditional) {
            if property.isConditional
                ? !names.contains(property.storedName) : names.insert(property.storedName).inserted
            {
                continue
            }
            problems.append(
                property.variable.problem(
                    "another property of this group is stored as \"\(property.storedName)\", too; give one of them another name by "
                        + "'@Key' (a value stored under the old name is then no longer read)"
                )
            )
        }
        let all = names.union(preferences.map(\.storedName))
        for property in preferences {
            guard let former = property.formerNames.first(where: all.contains) else { continue }
            problems.append(
                property.variable.problem(
                    "a property of this group is stored as \"\(former)\", which is therefore not read as a former name; "
                        + "remove it from '.formerly'"
                )
            )
        }
        return problems
    }
}

extension TokenSyntax {
    var isAccessLevel: Bool { ["open", "public", "package", "internal", "fileprivate", "private"].contains(text) }
}
#endif
