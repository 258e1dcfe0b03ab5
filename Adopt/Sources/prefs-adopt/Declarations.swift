import SwiftSyntax

/// The declarations and calls of all sources, by name: the first pass.
struct Declarations {
    /// A variable of a type or of a file; local variables are found by walking up from their use.
    struct Variable {
        let binding: PatternBindingSyntax
        let type: [String]
        let isPrivate: Bool
    }

    struct Function {
        let node: DeclSyntax
        let name: String
        let type: [String]
        let parameters: [FunctionParameterSyntax]
        let result: TypeSyntax?
        let body: CodeBlockItemListSyntax?
        let generics: [String]
    }

    struct TypeDeclaration {
        let node: DeclSyntax
        let path: [String]
        var inherited: [String]
        /// The cases of an enum with the expressions of their raw values.
        var cases: [(name: String, rawValue: ExprSyntax?)]
        let generics: [String]
        /// Whether a group in another file can't use it.
        let isHidden: Bool

        var name: String { path.joined(separator: ".") }
    }

    /// A call, an attribute with arguments, or `super.init`.
    struct Call {
        struct Argument {
            let label: String?
            let value: ExprSyntax
        }

        let node: Syntax
        let name: String
        /// The expression before the last dot.
        let base: ExprSyntax?
        let arguments: [Argument]
        let generics: [String]
        /// The variable that this attribute belongs to.
        var variable: VariableDeclSyntax?

        func argument(_ labels: String?...) -> ExprSyntax? {
            arguments.first { labels.contains($0.label) }?.value
        }
    }

    private(set) var paths: [SyntaxIdentifier: String] = [:]
    private var converters: [SyntaxIdentifier: SourceLocationConverter] = [:]
    /// The names of `UserDefaults` and of the classes that inherit from it.
    private(set) var defaultsTypes: Set<String> = ["UserDefaults", "NSUserDefaults", "Foundation.UserDefaults"]
    private(set) var functionsByNode: [SyntaxIdentifier: Function] = [:]
    fileprivate(set) var variables: [String: [Variable]] = [:]
    fileprivate(set) var functions: [String: [Function]] = [:]
    fileprivate(set) var types: [String: [TypeDeclaration]] = [:]
    fileprivate(set) var calls: [String: [Call]] = [:]
    /// The types that type aliases stand for.
    fileprivate(set) var aliases: [String: String] = [:]
    /// The protocols that a type conforms to in extensions, by the type's last name.
    fileprivate(set) var conformances: [String: [String]] = [:]

    init(_ files: [SourceFile]) {
        let collector = Collector(viewMode: .sourceAccurate)
        for file in files {
            paths[file.tree.id] = file.path
            converters[file.tree.id] = SourceLocationConverter(fileName: file.path, tree: file.tree)
            collector.walk(file.tree)
        }
        variables = collector.variables
        functions = collector.functions
        types = collector.types
        calls = collector.calls
        conformances = collector.conformances
        aliases = collector.aliases
        for function in functions.values.joined() { functionsByNode[function.node.id] = function }
        for (name, declarations) in types
        where declarations.contains(where: { $0.inherited.contains("UserDefaults") }) {
            defaultsTypes.insert(name)
        }
    }

    func place(of node: some SyntaxProtocol) -> Place {
        let location = converters[node.root.id]?.location(for: node.positionAfterSkippingLeadingTrivia)
        return Place(
            path: paths[node.root.id] ?? "?",
            line: location?.line ?? 0,
            column: location?.column ?? 0
        )
    }

    /// Returns the declaration of a type by its name at a node: the innermost, or else one in the same file.
    func type(named name: String, at node: some SyntaxProtocol) -> TypeDeclaration? {
        let parts = name.split(separator: ".").map(String.init)
        guard let last = parts.last else { return nil }
        guard let candidates = types[last] else {
            guard let target = aliases[last], target.lastName != last else { return nil }
            return type(named: target, at: node)
        }
        let fitting = candidates.filter { $0.path.suffix(parts.count).elementsEqual(parts) }
        let scope = node.enclosingTypes
        for count in stride(from: scope.count, through: 0, by: -1) {
            let path = scope.prefix(count) + parts
            let exact = fitting.filter { $0.path.elementsEqual(path) }
            if let found = exact.first(where: { $0.node.root.id == node.root.id }) ?? exact.first { return found }
        }
        if let found = fitting.first(where: { $0.node.root.id == node.root.id }) ?? fitting.first { return found }
        // `Module.Type`
        guard parts.count > 1, types[parts[0]] == nil else { return nil }
        return type(named: parts.dropFirst().joined(separator: "."), at: node)
    }

    /// Returns all types that a type conforms to or inherits from, in its declaration and in extensions.
    func inherited(by type: TypeDeclaration) -> [String] {
        type.inherited + (conformances[type.path.last ?? ""] ?? [])
    }
}

/// Collects declarations and calls; local variables, parameters and closures are left to ``Declarations/binding(of:at:)``.
private final class Collector: SyntaxVisitor {
    var variables: [String: [Declarations.Variable]] = [:]
    var functions: [String: [Declarations.Function]] = [:]
    var types: [String: [Declarations.TypeDeclaration]] = [:]
    var calls: [String: [Declarations.Call]] = [:]
    var conformances: [String: [String]] = [:]
    var aliases: [String: String] = [:]

    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        aliases[node.name.identifierText] = node.initializer.value.trimmedDescription
        return .visitChildren
    }

    private func add(
        _ node: some DeclGroupSyntax & NamedDeclSyntax,
        _ generics: GenericParameterClauseSyntax?
    ) -> SyntaxVisitorContinueKind {
        var cases: [(String, ExprSyntax?)] = []
        for member in node.memberBlock.members {
            guard let declaration = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
            cases += declaration.elements.map { ($0.name.identifierText, $0.rawValue?.value) }
        }
        let path = node.enclosingTypes + [node.name.identifierText]
        let isHidden = sequence(first: Syntax(node), next: \.parent).contains { node in
            node.asProtocol((any WithModifiersSyntax).self)?.modifiers.isPrivate == true
                || (node.is(CodeBlockSyntax.self) || node.is(ClosureExprSyntax.self))
        }
        types[node.name.identifierText, default: []].append(
            Declarations.TypeDeclaration(
                node: DeclSyntax(node),
                path: path,
                inherited: node.inheritanceClause.names,
                cases: cases,
                generics: generics.names,
                isHidden: isHidden
            )
        )
        return .visitChildren
    }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node, node.genericParameterClause)
    }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { add(node, node.genericParameterClause) }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { add(node, node.genericParameterClause) }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { add(node, node.genericParameterClause) }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        conformances[node.extendedType.trimmedDescription.lastName, default: []] += node.inheritanceClause.names
        return .visitChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard !node.isLocal else { return .visitChildren }
        for binding in node.bindings {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.identifierText else {
                continue
            }
            variables[name, default: []].append(
                Declarations.Variable(
                    binding: binding,
                    type: node.enclosingTypes,
                    isPrivate: node.modifiers.isPrivate
                )
            )
        }
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        add(
            node,
            node.name.identifierText,
            node.signature.parameterClause,
            node.signature.returnClause?.type,
            node.body,
            node.genericParameterClause
        )
    }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node, "init", node.signature.parameterClause, nil, node.body, node.genericParameterClause)
    }

    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node, "subscript", node.parameterClause, node.returnClause.type, nil, node.genericParameterClause)
    }

    private func add(
        _ node: some DeclSyntaxProtocol,
        _ name: String,
        _ parameters: FunctionParameterClauseSyntax,
        _ result: TypeSyntax?,
        _ body: CodeBlockSyntax?,
        _ generics: GenericParameterClauseSyntax?
    ) -> SyntaxVisitorContinueKind {
        functions[name, default: []].append(
            Declarations.Function(
                node: DeclSyntax(node),
                name: name,
                type: node.enclosingTypes,
                parameters: Array(parameters.parameters),
                result: result,
                body: body?.statements,
                generics: generics.names
            )
        )
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        var callee = node.calledExpression
        var generics: [String] = []
        if let specialized = callee.as(GenericSpecializationExprSyntax.self) {
            generics = specialized.genericArgumentClause.arguments.map { $0.argument.trimmedDescription }
            callee = specialized.expression
        }
        var name: String
        var base: ExprSyntax?
        if let reference = callee.as(DeclReferenceExprSyntax.self) {
            name = reference.baseName.identifierText
        } else if let member = callee.as(MemberAccessExprSyntax.self) {
            name = member.declName.baseName.identifierText
            base = member.base
            if let specialized = base?.as(GenericSpecializationExprSyntax.self), name == "init" {
                generics = specialized.genericArgumentClause.arguments.map { $0.argument.trimmedDescription }
                base = specialized.expression
            }
        } else {
            return .visitChildren
        }
        // `T.init(…)` is `T(…)`.
        if name == "init", let type = base?.trimmedDescription, type.lastName.startsUppercase, type != "Self" {
            name = type.lastName
            base = nil
        }
        add(
            Declarations.Call(
                node: Syntax(node),
                name: name,
                base: base,
                arguments: node.arguments.map { .init(label: $0.label?.identifierText, value: $0.expression) },
                generics: generics
            )
        )
        return .visitChildren
    }

    override func visit(_ node: SubscriptCallExprSyntax) -> SyntaxVisitorContinueKind {
        add(
            Declarations.Call(
                node: Syntax(node),
                name: "subscript",
                base: node.calledExpression,
                arguments: node.arguments.map { .init(label: $0.label?.identifierText, value: $0.expression) },
                generics: []
            )
        )
        return .visitChildren
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        guard case .argumentList(let arguments) = node.arguments,
            let variable = node.parent?.parent?.as(VariableDeclSyntax.self)
        else { return .visitChildren }
        let type = node.attributeName.as(IdentifierTypeSyntax.self)
        add(
            Declarations.Call(
                node: Syntax(node),
                name: type?.name.identifierText ?? node.attributeName.trimmedDescription.lastName,
                base: nil,
                arguments: arguments.map { .init(label: $0.label?.identifierText, value: $0.expression) },
                generics: type?.genericArgumentClause?.arguments.map { $0.argument.trimmedDescription } ?? [],
                variable: variable
            )
        )
        return .visitChildren
    }

    private func add(_ call: Declarations.Call) { calls[call.name, default: []].append(call) }
}

extension SyntaxProtocol {
    var ancestors: some Sequence<Syntax> { sequence(first: Syntax(self), next: \.parent).dropFirst() }

    /// The names of the types and extensions around a node, the outermost first.
    var enclosingTypes: [String] {
        var names: [String] = []
        for node in ancestors {
            if let type = node.asProtocol((any NamedDeclSyntax).self),
                node.asProtocol((any DeclGroupSyntax).self) != nil
            {
                names.append(type.name.identifierText)
            } else if let type = node.as(ExtensionDeclSyntax.self) {
                names += type.extendedType.trimmedDescription.split(separator: ".").map(String.init).reversed()
            }
        }
        return names.reversed()
    }

    /// The text without comments and line breaks.
    var text: String {
        tokens(viewMode: .sourceAccurate).map { token in
            let space = token.trailingTrivia.contains { $0.isSpace } || token.trailingTrivia.isEmpty && token.breaksLine
            return token.text + (space ? " " : "")
        }.joined().trimmedSpaces
    }
}

extension TriviaPiece {
    fileprivate var isSpace: Bool {
        switch self {
        case .spaces, .tabs: true
        default: false
        }
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var identifierText: String { text.hasPrefix("`") ? String(text.dropFirst().dropLast()) : text }

    fileprivate var breaksLine: Bool {
        guard let next = nextToken(viewMode: .sourceAccurate), !["(", "["].contains(text) else { return false }
        return next.leadingTrivia.contains { $0.isNewline } && ![".", ")", "]", ","].contains(next.text)
    }
}

extension VariableDeclSyntax {
    fileprivate var isLocal: Bool {
        for node in ancestors {
            if node.is(MemberBlockSyntax.self) { return false }
            if node.is(CodeBlockSyntax.self) || node.is(ClosureExprSyntax.self) || node.is(AccessorBlockSyntax.self) {
                return true
            }
        }
        return false
    }
}

extension DeclModifierListSyntax {
    var isPrivate: Bool { contains { ["private", "fileprivate"].contains($0.name.text) && $0.detail == nil } }
}

extension Optional<InheritanceClauseSyntax> {
    fileprivate var names: [String] {
        self?.inheritedTypes.map {
            let type = $0.type.as(AttributedTypeSyntax.self)?.baseType ?? $0.type
            return type.trimmedDescription
        } ?? []
    }
}

extension Optional<GenericParameterClauseSyntax> {
    fileprivate var names: [String] { self?.parameters.map(\.name.identifierText) ?? [] }
}

extension String {
    /// The part after the last dot, without generic arguments.
    var lastName: String {
        let plain = prefix { $0 != "<" }
        return String(plain.split(separator: ".").last ?? plain)
    }

    var startsUppercase: Bool { first?.isUppercase == true }

    var trimmedSpaces: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
