import SwiftSyntax

/// The object of `UserDefaults` that a use reads or writes.
enum Store: Hashable, Comparable {
    case standard
    case suite(String)
    /// A store whose suite is known only at run time, by its expression.
    case computed(String)
    /// `self` in an extension of `UserDefaults`: the store of the caller.
    case caller
}

extension Declarations {
    /// Returns the store of an expression, or `nil` if the sources don't show that it is an object of `UserDefaults`.
    func store(_ expression: ExprSyntax, depth: Int = 0) -> Store? {
        let expression = expression.unwrapped
        guard depth < 10 else { return nil }
        if let sequence = expression.as(SequenceExprSyntax.self) {
            // `a ?? b`, `condition ? a : b`, `a as? UserDefaults`.
            for element in sequence.elements {
                if let ternary = element.as(UnresolvedTernaryExprSyntax.self) {
                    return store(ternary.thenExpression, depth: depth + 1)
                }
            }
            return sequence.elements.first.flatMap { store($0, depth: depth + 1) }
        }
        if let call = expression.as(FunctionCallExprSyntax.self) { return store(call, depth) }
        if let reference = expression.as(DeclReferenceExprSyntax.self) {
            let name = reference.baseName.identifierText
            if name == "self" || name == "Self" { return isInDefaults(reference) ? .caller : nil }
            if let binding = binding(of: name, at: reference) { return store(binding, named: expression, depth) }
            return name.lowercased().contains("defaults") && !name.startsUppercase ? .computed(name) : nil
        }
        guard let member = expression.as(MemberAccessExprSyntax.self) else { return nil }
        let name = member.declName.baseName.identifierText
        guard let base = member.base?.unwrapped else { return name == "standard" ? .standard : nil }
        let baseText = base.trimmedDescription
        if defaultsTypes.contains(baseText) {
            if name == "standard" { return .standard }
            guard let found = self.member(name, of: baseText, at: member) else { return nil }
            return store(found, named: expression, depth)
        }
        if let found = referenced(expression) { return store(found, named: expression, depth) }
        // A property of another value, by its name, if a property of this name is declared as `UserDefaults` anywhere.
        let declared = variables[name, default: []].filter { isDefaults($0.binding.typeAnnotation?.type) }
        if !declared.isEmpty {
            return declared.lazy.compactMap { variable in
                variable.binding.initializer.flatMap { self.store($0.value, depth: depth + 1) }
            }.first ?? .computed(expression.text)
        }
        return name.lowercased().contains("userdefaults") ? .computed(expression.text) : nil
    }

    private func store(_ call: FunctionCallExprSyntax, _ depth: Int) -> Store? {
        let callee = call.calledExpression.unwrapped
        var type = callee.trimmedDescription
        if type.hasSuffix(".init") { type = String(type.dropLast(5)) }
        if defaultsTypes.contains(type) {
            guard let suite = call.arguments.first(where: { $0.label?.text == "suiteName" }) else { return .standard }
            if suite.expression.is(NilLiteralExprSyntax.self) { return .standard }
            let names = keys(suite.expression)
            return names.count == 1 ? names[0].name.map(Store.suite) ?? .computed(call.text) : .computed(call.text)
        }
        if let closure = callee.as(ClosureExprSyntax.self) { return store(anyOf: closure.statements.returned, depth) }
        // A function that returns a store.
        guard let name = callee.referencedName, let site = calls[name]?.first(where: { $0.node.id == call.id }),
            let function = matching(site).first(where: { isDefaults($0.result) })
        else { return nil }
        return store(anyOf: function.body?.returned ?? [], depth) ?? .computed(call.text)
    }

    private func store(_ binding: Binding, named expression: ExprSyntax, _ depth: Int) -> Store? {
        switch binding {
        case .value(let value, let type):
            return store(value, depth: depth + 1) ?? (isDefaults(type) ? .computed(expression.text) : nil)
        case .computed(let values, let type):
            return store(anyOf: values, depth) ?? (isDefaults(type) ? .computed(expression.text) : nil)
        case .parameter(let parameter, _):
            guard isDefaults(parameter.type) else { return nil }
            return parameter.defaultValue.flatMap { store($0.value, depth: depth + 1) } ?? .computed(expression.text)
        case .property(_, let owner, let type):
            guard isDefaults(type) else { return nil }
            // The default of an initializer's parameter.
            guard case .type(let path) = owner else { return .computed(expression.text) }
            let parameters = functions["init", default: []].filter { $0.type == path }.flatMap(\.parameters)
            return parameters.lazy.filter { self.isDefaults($0.type) }
                .compactMap { $0.defaultValue.flatMap { self.store($0.value, depth: depth + 1) } }
                .first ?? .computed(expression.text)
        case .element, .enumCase: return nil
        }
    }

    private func store(anyOf values: [ExprSyntax], _ depth: Int) -> Store? {
        let found = values.compactMap { store($0, depth: depth + 1) }
        return found.first { $0 != .standard } ?? found.first
    }

    func isDefaults(_ type: TypeSyntax?) -> Bool {
        guard let type else { return false }
        return defaultsTypes.contains(type.trimmedDescription.filter { !"?!()".contains($0) })
    }

    /// Returns whether a node is in an extension or a subclass of `UserDefaults`.
    func isInDefaults(_ node: some SyntaxProtocol) -> Bool {
        node.enclosingTypes.last.map(defaultsTypes.contains) ?? false
    }
}
