import SwiftSyntax

// Which function a call calls, as far as names and labels tell: sources alone don't have all types.

extension Declarations.Function {
    /// The arguments of a call by the parameters' names, or `nil` if the labels don't fit.
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
    /// The functions and initializers that a call may call, those of its own file alone if there are any.
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

    /// Of overloads in one type the one whose parameters have the arguments' types, as far as literals and annotations tell.
    private func withoutOtherOverloads(_ functions: [Function], _ call: Call) -> [Function] {
        guard functions.count > 1 else { return functions }
        func score(_ function: Function) -> Int {
            let arguments = function.arguments(of: call) ?? [:]
            return function.parameters.count { parameter in
                guard let name = arguments[parameter.innerName].flatMap(plainTypeName) else { return false }
                return parameter.type.trimmedDescription.withoutOptional == name
            }
        }
        var best: [[String]: (function: Function, score: Int)] = [:]
        var order: [[String]] = []
        for function in functions {
            let score = score(function)
            if best[function.type] == nil { order.append(function.type) }
            if best[function.type].map({ score > $0.score }) ?? true { best[function.type] = (function, score) }
        }
        return order.compactMap { best[$0]?.function }
    }

    /// The type of a literal, or the annotated type of a constant: it asks for no other function, so it ends.
    private func plainTypeName(of expression: ExprSyntax) -> String? {
        let expression = expression.unwrapped
        switch expression.kind {
        case .booleanLiteralExpr: return "Bool"
        case .integerLiteralExpr: return "Int"
        case .floatLiteralExpr: return "Double"
        case .stringLiteralExpr: return "String"
        default: break
        }
        switch referenced(expression) {
        case .parameter(let parameter, _): return parameter.type.trimmedDescription.withoutOptional
        case .value(_, let type?), .computed(_, let type?), .property(_, _, let type?):
            return type.trimmedDescription.withoutOptional
        default: return nil
        }
    }

    /// Whether a method's type can be that of a call's base.
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

    /// What a call passes for a parameter of a function or for a property of the type that it creates.
    /// - Returns: The argument, and the type that is expected of it.
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
            // The initializer that the compiler makes.
            let hasOwn = initializers.contains { $0.node.parent?.parent?.parent?.is(ExtensionDeclSyntax.self) != true }
            guard !hasOwn, let value = call.argument(name) else { return nil }
            let property = variables[name]?.first { $0.type == path }
            return (value, property?.binding.typeAnnotation?.type.trimmedDescription)
        }
    }

    /// The type of a parameter, with the types around it if it is one of the sources.
    func typeName(of parameter: FunctionParameterSyntax, in function: Function) -> String {
        let name = parameter.type.trimmedDescription
        return type(named: name.withoutGenerics, at: function.node)?.name ?? name
    }

    /// The calls that may pass something to a function, or create a type.
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
    /// The parameter that an initializer stores in a property.
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
