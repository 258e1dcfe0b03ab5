import SwiftSyntax

/// The meaning of a name at a place in a source.
enum Binding {
    /// A constant, or a variable with its first value.
    case value(ExprSyntax, type: TypeSyntax?)
    /// A computed variable, with the expressions that its getter returns.
    case computed([ExprSyntax], type: TypeSyntax?)
    /// One of the elements of a sequence.
    case element(ExprSyntax)
    case parameter(FunctionParameterSyntax, of: Owner)
    /// A property that an initializer sets.
    case property(String, of: Owner, type: TypeSyntax?)
    case enumCase(String, rawValue: ExprSyntax?, of: Declarations.TypeDeclaration)
}

/// The function or type whose parameter or property is a part of a key.
enum Owner: Hashable {
    case function(SyntaxIdentifier)
    case type([String])
}

extension Declarations {
    /// Returns the meaning of a name at a node, among locals, parameters, members of the enclosing types and globals.
    func binding(of name: String, at node: some SyntaxProtocol) -> Binding? {
        var previous = Syntax(node)
        for ancestor in node.ancestors {
            defer { previous = ancestor }
            if let found = local(name, in: ancestor, from: previous) { return found }
            if let function = ancestor.as(FunctionDeclSyntax.self) {
                if let found = parameter(name, function.signature.parameterClause.parameters, ancestor) { return found }
            } else if let function = ancestor.as(InitializerDeclSyntax.self) {
                if let found = parameter(name, function.signature.parameterClause.parameters, ancestor) { return found }
            } else if let function = ancestor.as(SubscriptDeclSyntax.self) {
                if let found = parameter(name, function.parameterClause.parameters, ancestor) { return found }
            }
        }
        let types = node.enclosingTypes
        for count in stride(from: types.count, to: 0, by: -1) {
            if let found = member(name, of: types.prefix(count).joined(separator: "."), at: node) { return found }
        }
        let globals = variables[name, default: []].filter { $0.type.isEmpty }
        return nearest(globals, to: node).map { self.binding(of: $0, name) }
    }

    /// Returns a member of a type or of the classes that it inherits from.
    func member(_ name: String, of typeName: String, at node: some SyntaxProtocol, depth: Int = 0) -> Binding? {
        let declaration = type(named: typeName, at: node)
        let path = declaration?.path ?? typeName.split(separator: ".").map(String.init)
        if let declaration, let found = declaration.cases.first(where: { $0.name == name }) {
            return .enumCase(name, rawValue: found.rawValue, of: declaration)
        }
        let members = variables[name, default: []].filter { $0.type.elementsEqual(path) }
        if let found = nearest(members, to: node) { return binding(of: found, name) }
        guard depth < 5, let declaration else { return nil }
        for parent in declaration.inherited where types[parent.lastName] != nil {
            if let found = member(name, of: parent.lastName, at: declaration.node, depth: depth + 1) { return found }
        }
        return nil
    }

    private func nearest(_ candidates: [Variable], to node: some SyntaxProtocol) -> Variable? {
        candidates.first { $0.binding.root.id == node.root.id }
            ?? candidates.first { !$0.isPrivate }
            ?? candidates.first
    }

    private func binding(of variable: Variable, _ name: String) -> Binding {
        Self.binding(of: variable.binding, name)
            ?? .property(
                name,
                of: .type(variable.type),
                type: variable.binding.typeAnnotation?.type
            )
    }

    private static func binding(of binding: PatternBindingSyntax, _ name: String) -> Binding? {
        let type = binding.typeAnnotation?.type
        if let value = binding.initializer?.value {
            // `{ … }()`
            if let call = value.as(FunctionCallExprSyntax.self),
                let closure = call.calledExpression.as(ClosureExprSyntax.self)
            {
                return .computed(closure.statements.returned, type: type)
            }
            return .value(value, type: type)
        }
        switch binding.accessorBlock?.accessors {
        case .getter(let body): return .computed(body.returned, type: type)
        case .accessors(let accessors):
            guard let getter = accessors.first(where: { $0.accessorSpecifier.text == "get" }) else { return nil }
            return .computed(getter.body?.statements.returned ?? [], type: type)
        case nil: return nil
        }
    }

    private func parameter(
        _ name: String,
        _ parameters: FunctionParameterListSyntax,
        _ function: Syntax
    ) -> Binding? {
        parameters.first { $0.innerName == name }.map { .parameter($0, of: .function(function.id)) }
    }

    /// Returns a local of `ancestor`, which is a block, a condition or a loop.
    private func local(_ name: String, in ancestor: Syntax, from child: Syntax) -> Binding? {
        if let items = ancestor.as(CodeBlockItemListSyntax.self) {
            for item in items {
                if item.id == child.id { break }
                if let variable = item.item.as(VariableDeclSyntax.self) {
                    for binding in variable.bindings where binding.pattern.trimmedDescription == name {
                        return Self.binding(of: binding, name)
                    }
                } else if let statement = item.item.as(GuardStmtSyntax.self) {
                    if let found = condition(name, statement.conditions) { return found }
                }
            }
        } else if let statement = ancestor.as(IfExprSyntax.self) {
            return condition(name, statement.conditions)
        } else if let statement = ancestor.as(GuardStmtSyntax.self) {
            return condition(name, statement.conditions)
        } else if let statement = ancestor.as(WhileStmtSyntax.self) {
            return condition(name, statement.conditions)
        } else if let statement = ancestor.as(ForStmtSyntax.self), statement.pattern.trimmedDescription == name {
            return .element(statement.sequence)
        } else if let call = ancestor.as(FunctionCallExprSyntax.self),
            let closure = call.trailingClosure, closure.id == child.id,
            let member = call.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base,
            ["forEach", "map", "compactMap", "filter"].contains(member.declName.baseName.text),
            closure.firstParameter == name
        {
            return .element(base)
        }
        return nil
    }

    private func condition(_ name: String, _ conditions: ConditionElementListSyntax) -> Binding? {
        for element in conditions {
            guard let binding = element.condition.as(OptionalBindingConditionSyntax.self),
                binding.pattern.trimmedDescription == name, let value = binding.initializer?.value
            else { continue }
            return .value(value, type: binding.typeAnnotation?.type)
        }
        return nil
    }
}

extension FunctionParameterSyntax {
    var innerName: String { (secondName ?? firstName).identifierText }
    var label: String? { firstName.text == "_" ? nil : firstName.identifierText }
}

extension ClosureExprSyntax {
    fileprivate var firstParameter: String {
        switch signature?.parameterClause {
        case .simpleInput(let list): list.first?.name.text ?? "$0"
        case .parameterClause(let clause): clause.parameters.first?.firstName.text ?? "$0"
        case nil: "$0"
        }
    }
}

extension CodeBlockItemListSyntax {
    /// The expressions that a body returns.
    var returned: [ExprSyntax] {
        if count == 1, let only = first?.item.as(ExprSyntax.self), !only.is(IfExprSyntax.self),
            !only.is(SwitchExprSyntax.self)
        {
            return [only]
        }
        let collector = ReturnCollector(viewMode: .sourceAccurate)
        collector.walk(self)
        return collector.found
    }
}

private final class ReturnCollector: SyntaxVisitor {
    var found: [ExprSyntax] = []

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if let expression = node.expression { found.append(expression) }
        return .skipChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

extension ExprSyntax {
    /// The expression without parentheses, `try`, `await`, `?` and `!`.
    var unwrapped: ExprSyntax {
        if let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return only.expression.unwrapped
        }
        if let inner = self.as(TryExprSyntax.self)?.expression { return inner.unwrapped }
        if let inner = self.as(AwaitExprSyntax.self)?.expression { return inner.unwrapped }
        if let inner = self.as(ForceUnwrapExprSyntax.self)?.expression { return inner.unwrapped }
        if let inner = self.as(OptionalChainingExprSyntax.self)?.expression { return inner.unwrapped }
        return self
    }

    /// The last name of a reference, or `nil` if the expression isn't a reference.
    var referencedName: String? {
        let plain = unwrapped
        return plain.as(DeclReferenceExprSyntax.self)?.baseName.identifierText
            ?? plain.as(MemberAccessExprSyntax.self)?.declName.baseName.identifierText
    }
}
