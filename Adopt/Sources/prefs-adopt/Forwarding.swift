import SwiftSyntax

extension Declarations {
    /// Follows keys that callers pass to functions and types, as in `func flag(_ key: String) -> Bool {
    /// defaults.bool(forKey: key) }` and in wrappers: each call becomes a use with the passed key.
    func followed(_ uses: [Use]) -> [Use] {
        var result: [Use] = []
        var pending = uses
        var seen: Set<FollowedCall> = []
        while var use = pending.popLast() {
            use.key = use.key.withoutPropertiesInPatterns
            guard let (name, owner) = use.key.parameter, !use.path.contains(owner), use.path.count < 8 else {
                result.append(use)
                continue
            }
            var isPassed = false
            for call in callSites(of: owner) {
                guard let (argument, type) = argument(name, of: owner, in: call) else { continue }
                isPassed = true
                // Without a key nothing is used, or a `??` in the function has another key.
                guard !argument.is(NilLiteralExprSyntax.self) else { continue }
                for value in keys(argument, type: type) {
                    var passed = use
                    if use.key.segments.count > 1, value.name == nil, value.parameter == nil {
                        // The caller computes this part, so the key isn't known there, either.
                        passed.key = use.key.replacing(name, of: owner, by: KeyText([.computed(name, in: nil)]))
                        if seen.insert(FollowedCall(call.node.id, passed)).inserted { pending.append(passed) }
                        continue
                    }
                    passed.key = use.key.replacing(name, of: owner, by: value)
                    passed.path = use.path + [owner]
                    specialize(&passed, use, owner, call)
                    if seen.insert(FollowedCall(call.node.id, passed)).inserted { pending.append(passed) }
                }
            }
            if !isPassed { result.append(use) }
        }
        return merged(result)
    }

    /// Merges the uses of one call with different types into one use of unknown type: the function chooses the type by another
    /// parameter, or the sources don't determine the overload.
    private func merged(_ uses: [Use]) -> [Use] {
        struct Identity: Hashable {
            let place: Place
            let kind: Use.Kind
            let key: KeyText
            let store: Store
        }
        var groups: [Identity: [Use]] = [:]
        var order: [Identity] = []
        for use in uses {
            let identity = Identity(place: use.place, kind: use.kind, key: use.key, store: use.store)
            if groups[identity] == nil { order.append(identity) }
            groups[identity, default: []].append(use)
        }
        return order.flatMap { identity -> [Use] in
            let uses = groups[identity] ?? []
            guard uses.count > 1, uses.contains(where: { !$0.path.isEmpty }) else { return uses }
            guard haveDifferentTypes(uses) else { return withoutRepetitions(uses) }
            var use = uses[0]
            use.type = nil
            // Implicit values differ with the types.
            let fallbacks = uses.map { $0.fallback?.origin == .implicit ? nil : $0.fallback }
            use.fallback = fallbacks.allSatisfy { $0?.text == fallbacks[0]?.text } ? fallbacks[0] : nil
            return [use]
        }
    }

    /// Returns the uses of one call without redundant ones, such as `object(forKey:) == nil` before a read.
    private func withoutRepetitions(_ uses: [Use]) -> [Use] {
        struct Facts: Hashable {
            let type: String?
            let coding: String?
            let text: String?
            let origin: Fallback.Origin?
        }
        let isTyped = uses.contains { $0.type != nil }
        var seen: Set<Facts> = []
        // Of two types with the same name the more exact one is kept.
        let declared = uses.filter { $0.type?.exactness == .declared }
        return (declared + uses.filter { $0.type?.exactness != .declared }).filter { use in
            if isTyped, use.type == nil, use.fallback == nil { return false }
            let facts = Facts(
                type: use.type?.name,
                coding: use.type?.coding,
                text: use.fallback?.text,
                origin: use.fallback?.origin
            )
            return seen.insert(facts).inserted
        }
    }

    private func haveDifferentTypes(_ uses: [Use]) -> Bool {
        let names = Set(Finding.storedTypes(uses, self).map(\.comparable))
        let hasUntyped = uses.contains { use in
            guard let type = use.type, case .untyped = storedForm(of: type.name, at: type.node) else { return false }
            return true
        }
        return names.count + (hasUntyped ? 1 : 0) > 1
    }

    private struct FollowedCall: Hashable {
        let call: SyntaxIdentifier
        let kind: Use.Kind
        let key: KeyText
        let type: ValueType?
        let owner: Owner?

        init(_ call: SyntaxIdentifier, _ use: Use) {
            self.call = call
            kind = use.kind
            key = use.key
            type = use.type
            owner = use.path.first
        }
    }

    /// Completes a use inside a function or type with the place, store, type and default of a call of it.
    private func specialize(_ use: inout Use, _ inner: Use, _ owner: Owner, _ call: Call) {
        use.place = place(of: call.node)
        if use.store == .caller, let base = call.base, let found = store(base) { use.store = found }
        if case .computed = use.store {
            if let found = call.arguments.lazy.compactMap({ self.suite($0) }).first { use.store = found }
        }
        let labels: Set = ["default", "defaultValue", "wrappedValue", "initialValue", "defaultsTo", "fallback", "or"]
        let value =
            call.variable?.bindings.first?.initializer?.value
            ?? call.arguments.first { labels.contains($0.label ?? "") }?.value
        let isWrapper = isType(owner)
        if let value {
            use.fallback =
                value.is(NilLiteralExprSyntax.self)
                ? nil : Fallback(origin: .declared, text: value.text, expression: value)
        } else if let text = inner.fallback?.expression?.referencedName, inner.fallback?.origin != .implicit,
            let passed = argument(text, of: owner, in: call)?.value
        {
            use.fallback = Fallback(origin: .declared, text: passed.text, expression: passed)
        }
        if let coded = codedType(inner.type, call) {
            use.type = coded
            return
        }
        if isWrapper, use.kind == .read, value != nil || call.variable != nil { use.kind = .declare }
        use.type = specialized(inner.type, owner, call, value)
    }

    /// Returns the type `T` of a wrapper that decodes `T` from the data or the string of a key.
    private func codedType(_ type: ValueType?, _ call: Call) -> ValueType? {
        guard let type, type.exactness == .stored, let coding = ["String": ".jsonString", "Data": ".json"][type.name],
            let wrapper = self.type(named: call.name, at: call.node)
        else { return nil }
        let text = wrapper.node.description
        for (generic, argument) in zip(wrapper.generics, call.generics) where text.contains("decode(\(generic).self") {
            return ValueType(
                name: argument.withoutOptional,
                exactness: .declared,
                node: call.node,
                coding: text.contains("JSONDecoder") ? coding : nil
            )
        }
        return nil
    }

    private func isType(_ owner: Owner) -> Bool {
        switch owner {
        case .type: true
        case .function(let id): functionsByNode[id]?.name == "init"
        }
    }

    /// Returns the suite that an argument passes to a wrapper.
    private func suite(_ argument: Call.Argument) -> Store? {
        switch argument.label {
        case "store", "defaults", "userDefaults", "container": store(argument.value)
        case "suite", "suiteName":
            store(argument.value) ?? keys(argument.value).first?.name.map(Store.suite)
        default: nil
        }
    }

    /// Returns the type with a generic parameter replaced, by the call's `<…>`, its variable, or its arguments.
    private func specialized(_ type: ValueType?, _ owner: Owner, _ call: Call, _ value: ExprSyntax?) -> ValueType? {
        guard var type else { return variableType(call, value) }
        let (generics, function) = generics(of: owner)
        if let index = generics.firstIndex(of: type.name) {
            if index < call.generics.count {
                type.name = call.generics[index].withoutOptional
            } else if let declared = variableType(call, value) {
                type.name = declared.name
            } else if let function, let arguments = function.arguments(of: call),
                let parameter = function.parameters.first(where: {
                    $0.type.trimmedDescription.withoutOptional == type.name
                }),
                let argument = arguments[parameter.innerName]
            {
                return writtenType(of: argument)
            } else {
                return nil
            }
            type.exactness = .declared
        } else if type.exactness == .stored, call.variable != nil, let declared = variableType(call, value) {
            return declared
        }
        if self.type(named: type.name, at: type.node) == nil { type.node = call.node }
        // A cast in a wrapper's helper doesn't determine the type of one call's value.
        let read = readType(of: call.node, nil)
        if type.exactness == .stored, let read, call.variable == nil, read.exactness == .declared, !isType(owner) {
            return read
        }
        return type
    }

    private func variableType(_ call: Call, _ value: ExprSyntax?) -> ValueType? {
        let name =
            call.variable?.bindings.first?.typeAnnotation?.type.trimmedDescription ?? value.flatMap { typeName(of: $0) }
        return name.map { ValueType(name: $0.withoutOptional, exactness: .declared, node: call.node) }
    }

    private func generics(of owner: Owner) -> ([String], Function?) {
        switch owner {
        case .function(let id):
            let function = functionsByNode[id]
            guard let function else { return ([], nil) }
            let outer = types[function.type.last ?? ""]?.first { $0.path == function.type }?.generics ?? []
            return (outer + function.generics, function)
        case .type(let path):
            return (types[path.last ?? ""]?.first { $0.path == path }?.generics ?? [], nil)
        }
    }
}
