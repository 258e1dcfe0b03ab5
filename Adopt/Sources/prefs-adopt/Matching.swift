import SwiftSyntax

// The functions that a call may call, by names and labels, as sources alone don't have all types.

extension Declarations.Function {
    /// Returns the arguments of a call by the parameters' names, or `nil` if the labels don't match.
    func arguments(of call: Declarations.Call) -> [String: ExprSyntax]? {
        var result: [String: ExprSyntax] = [:]
        var rest = call.arguments[...]
        for parameter in parameters {
            let label = parameter.label.flatMap { name == "subscript" && parameter.secondName == nil ? nil : $0 }
            if let next = rest.first, next.label == label {
                result[parameter.innerName] = next.value
                rest.removeFirst()
            } else if parameter.label == "wrappedValue", let variable = call.variable {
                result[parameter.innerName] = variable.bindings.first?.initializer?.value
            } else if parameter.defaultValue == nil, parameter.ellipsis == nil,
                !parameter.type.trimmedDescription.contains("->")
            {
                return nil
            }
        }
        return rest.isEmpty ? result : nil
    }
}

extension Declarations {
    /// Returns the functions and initializers that a call may call; only those of its file if there are any.
    func matching(_ call: Call) -> [Function] {
        var found: [Function]
        if call.name == "init", let base = call.base?.trimmedDescription {
            let scope = type(named: call.node.enclosingTypes.joined(separator: "."), at: call.node)
            let names = base == "super" ? scope?.inherited ?? [] : [scope?.path.last ?? ""]
            found = names.flatMap { name in functions["init", default: []].filter { $0.type.last == name.lastName } }
        } else if call.name.startsUppercase {
            found = functions["init", default: []].filter { $0.type.last == call.name }
            if found.isEmpty, let type = type(named: call.name, at: call.node) {
                for parent in type.inherited where types[parent.lastName] != nil {
                    found += functions["init", default: []].filter { $0.type.last == parent.lastName }
                }
            }
        } else {
            found = functions[call.name, default: []].filter { fits($0, call) }
        }
        found = found.filter { $0.arguments(of: call) != nil && !call.node.ancestors.contains(Syntax($0.node)) }
        let near = found.filter { $0.node.root.id == call.node.root.id }
        return withoutOtherOverloads(near.isEmpty ? found : near, call)
    }

    /// Returns the best matching overloads of each type by the arguments' types: several if the sources don't determine these.
    private func withoutOtherOverloads(_ functions: [Function], _ call: Call) -> [Function] {
        guard functions.count > 1 else { return functions }
        var best: [[String]: (functions: [Function], score: Int)] = [:]
        var order: [[String]] = []
        for function in functions {
            let score = score(function, call)
            if best[function.type] == nil { order.append(function.type) }
            if let other = best[function.type], score <= other.score {
                if score == other.score { best[function.type]?.functions.append(function) }
            } else {
                best[function.type] = ([function], score)
            }
        }
        return order.flatMap { best[$0]?.functions ?? [] }
    }

    /// Returns a point for each parameter with exactly the argument's type, and for a result with the type that the surrounding code
    /// expects; a parameter that can't accept the argument outweighs all points.
    private func score(_ function: Function, _ call: Call) -> Int {
        let arguments = function.arguments(of: call) ?? [:]
        let result = function.result?.trimmedDescription.withoutOptional
        let start = result != nil && readType(of: call.node, nil)?.name == result ? 1 : 0
        return function.parameters.reduce(start) { sum, parameter in
            guard let argument = arguments[parameter.innerName]?.unwrapped else { return sum }
            let written = parameter.type.trimmedDescription
            let type = written.withoutOptional
            if argument.is(NilLiteralExprSyntax.self) {
                return sum - (type == written && StoredForm.natives.contains(type) ? 100 : 0)
            }
            guard let name = plainTypeName(of: argument) else { return sum }
            if type == name { return sum + 1 }
            let isNumber = ["Float", "Double", "CGFloat"].contains(type) || StoredForm.integers.contains(type)
            let fitsLiteral =
                isNumber && (argument.is(IntegerLiteralExprSyntax.self) || argument.is(FloatLiteralExprSyntax.self))
            let isOther =
                StoredForm.natives.contains(type) && (StoredForm.natives.contains(name) || types[name.lastName] != nil)
            return sum - (isOther && !fitsLiteral ? 100 : 0)
        }
    }

    /// Returns the type of a literal, or the annotated type of a constant; calls no other matching, so it can't recurse.
    private func plainTypeName(of expression: ExprSyntax) -> String? {
        let expression = expression.unwrapped
        switch expression.kind {
        case .booleanLiteralExpr: return "Bool"
        case .integerLiteralExpr: return "Int"
        case .floatLiteralExpr: return "Double"
        case .stringLiteralExpr: return "String"
        default: break
        }
        if expression.as(PrefixOperatorExprSyntax.self)?.operator.text == "!" { return "Bool" }
        if let sequence = expression.as(SequenceExprSyntax.self) {
            let operators = sequence.elements.compactMap { $0.as(BinaryOperatorExprSyntax.self)?.operator.text }
            return operators.contains { Self.logicalOperators.contains($0) }
                && !sequence.elements.contains { $0.is(UnresolvedTernaryExprSyntax.self) } ? "Bool" : nil
        }
        if let callee = expression.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription {
            return StoredForm.natives.contains(callee) ? callee : nil
        }
        switch referenced(expression) {
        case .parameter(let parameter, _): return parameter.type.trimmedDescription.withoutOptional
        case .value(_, let type?), .computed(_, let type?), .property(_, _, let type?):
            return type.trimmedDescription.withoutOptional
        default: return nil
        }
    }

    /// Returns whether a method's type can be that of a call's base.
    private func fits(_ function: Function, _ call: Call) -> Bool {
        guard let type = function.type.last else { return call.base == nil }
        let isOfDefaults = defaultsTypes.contains(type)
        guard let base = call.base?.unwrapped else {
            return call.node.enclosingTypes.contains { $0 == type || inherits($0, from: type) }
        }
        if base.trimmedDescription == "self" || base.trimmedDescription == "Self" {
            return call.node.enclosingTypes.contains { $0 == type || inherits($0, from: type) }
        }
        if store(base) != nil { return isOfDefaults }
        if isOfDefaults { return false }
        let name = base.trimmedDescription.lastName
        if name.startsUppercase { return name == type || inherits(name, from: type) }
        switch referenced(base) {
        case .value(_, let declared?), .computed(_, let declared?), .property(_, _, let declared?):
            let name = declared.trimmedDescription.filter { !"?!".contains($0) }.lastName
            return name == type || inherits(name, from: type) || types[name] == nil
        case .value(let value, nil):
            guard let name = value.unwrapped.as(FunctionCallExprSyntax.self)?.calledExpression.referencedName,
                name.startsUppercase
            else { return true }
            return name == type || inherits(name, from: type)
        default: return true
        }
    }

    private func inherits(_ name: String, from type: String, depth: Int = 0) -> Bool {
        guard depth < 6, let declarations = types[name] else { return false }
        return declarations.contains { declaration in
            inherited(by: declaration).contains {
                $0.lastName == type || inherits($0.lastName, from: type, depth: depth + 1)
            }
        }
    }

    /// Returns the argument that a call passes for a parameter of a function or a property of the type that it creates.
    ///
    /// - Returns: The argument and its expected type.
    func argument(_ name: String, of owner: Owner, in call: Call) -> (value: ExprSyntax, type: String?)? {
        switch owner {
        case .function(let id):
            guard let function = matching(call).first(where: { $0.node.id == id }),
                let parameter = function.parameters.first(where: { $0.innerName == name }),
                let value = function.arguments(of: call)?[name] ?? parameter.defaultValue?.value
            else { return nil }
            return (value, typeName(of: parameter, in: function))
        case .type(let path):
            guard call.name == path.last || call.name == "init" || inherits(call.name, from: path.last ?? "") else {
                return nil
            }
            let initializers = functions["init", default: []].filter { $0.type.last == path.last }
            for function in initializers where matching(call).contains(where: { $0.node.id == function.node.id }) {
                guard let parameter = function.parameter(assignedTo: name) else { continue }
                return argument(parameter, of: .function(function.node.id), in: call)
            }
            // The memberwise initializer of the compiler.
            let hasOwn = initializers.contains { $0.node.parent?.parent?.parent?.is(ExtensionDeclSyntax.self) != true }
            guard !hasOwn, let value = call.argument(name) else { return nil }
            let property = variables[name]?.first { $0.type == path }
            return (value, property?.binding.typeAnnotation?.type.trimmedDescription)
        }
    }

    /// Returns the type of a parameter, with its enclosing types if the sources declare it.
    func typeName(of parameter: FunctionParameterSyntax, in function: Function) -> String {
        let name = parameter.type.trimmedDescription
        return type(named: name.withoutGenerics, at: function.node)?.name ?? name
    }

    /// Returns the calls that may call a function or create a type.
    func callSites(of owner: Owner) -> [Call] {
        switch owner {
        case .function(let id):
            guard let function = functionsByNode[id] else { return [] }
            guard function.name == "init" else { return calls[function.name, default: []] }
            return creations(of: function.type.last ?? "")
        case .type(let path): return creations(of: path.last ?? "")
        }
    }

    private func creations(of type: String) -> [Call] {
        let heirs = types.keys.filter { inherits($0, from: type) }
        return ([type] + heirs.sorted()).flatMap { calls[$0, default: []] }
            + calls["init", default: []].filter { ["super", "self"].contains($0.base?.trimmedDescription) }
    }
}

extension Declarations.Function {
    /// Returns the parameter that an initializer stores in a property.
    fileprivate func parameter(assignedTo property: String) -> String? {
        for statement in body ?? [] {
            guard let sequence = statement.item.as(SequenceExprSyntax.self), sequence.elements.count == 3 else {
                continue
            }
            let parts = Array(sequence.elements)
            guard parts[1].is(AssignmentExprSyntax.self) else { continue }
            let target = parts[0].trimmedDescription
            guard target == "self.\(property)" || target == property else { continue }
            var value = parts[2].unwrapped
            if let member = value.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "rawValue",
                let base = member.base
            {
                value = base.unwrapped
            }
            if let name = value.as(DeclReferenceExprSyntax.self)?.baseName.identifierText { return name }
        }
        return nil
    }
}
