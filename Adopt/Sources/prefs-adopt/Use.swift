import SwiftSyntax

/// One use of a key.
struct Use {
    enum Kind: String, Sendable { case read, write, observe, register, remove, declare }

    var place: Place
    var kind: Kind
    var key: KeyText
    var store: Store
    /// The type of the value without the `?`; `nil` if the use doesn't determine it.
    var type: ValueType?
    var fallback: Fallback?
    /// The functions that pass the key on, so that each is followed only once.
    var path: [Owner] = []
}

/// The type of a value at a use.
struct ValueType: Hashable {
    var name: String
    /// How exactly the use determines the type; the more exact type wins.
    enum Exactness: Int, Comparable {
        /// By a method such as `integer(forKey:)`, or by a written value: only the stored form.
        case stored
        /// By a cast, an annotation, an enum created from the raw value, or a decoded type.
        case declared
        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
    var exactness: Exactness
    /// The node of the use, at which the type's name is resolved.
    var node: Syntax
    /// The coding, if the value is JSON of this type in data or in a string.
    var coding: String?

    static func == (left: Self, right: Self) -> Bool {
        (left.name, left.exactness, left.coding) == (right.name, right.exactness, right.coding)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The value of a use if nothing is stored.
struct Fallback {
    enum Origin: Int, Comparable {
        /// `register(defaults:)`.
        case registered
        /// `@AppStorage` and other wrappers.
        case declared
        /// `??`.
        case alternative
        /// `false` of `bool(forKey:)`, `0` of `integer(forKey:)`.
        case implicit
        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
    var origin: Origin
    var text: String
    var expression: ExprSyntax?
}

/// The second pass, which finds the uses of objects of `UserDefaults`, of `@AppStorage` and of known wrappers.
struct UseFinder {
    let declarations: Declarations
    private var uses: [Use] = []

    static func uses(in declarations: Declarations) -> [Use] {
        var finder = UseFinder(declarations: declarations)
        for name in declarations.calls.keys.sorted() {
            for call in declarations.calls[name, default: []] { finder.find(call) }
        }
        return finder.uses
    }

    private init(declarations: Declarations) { self.declarations = declarations }

    /// The types that the methods return, and the values that they return if nothing is stored.
    private static let readers: [String: (type: String?, implicit: String?)] = [
        "bool": ("Bool", "false"), "integer": ("Int", "0"), "double": ("Double", "0"), "float": ("Float", "0"),
        "string": ("String", nil), "data": ("Data", nil), "url": ("URL", nil), "stringArray": ("[String]", nil),
        "array": ("[Any]", nil), "dictionary": ("[String: Any]", nil), "object": (nil, nil), "value": (nil, nil),
        "objectIsForced": (nil, nil),
    ]

    private mutating func find(_ call: Declarations.Call) {
        switch call.name {
        case "AppStorage": wrapper(call, key: call.argument(nil, "key"), store: call.argument("store"))
        // `Key<Bool>("x", default: true)`, as in well-known packages and many projects.
        case "Key", "DefaultsKey", "DefaultKey", "UserDefaultsKey", "UserDefaultKey":
            let isTyped = !call.generics.isEmpty || call.argument("default", "defaultValue") != nil
            guard call.variable == nil, isTyped, call.arguments.first?.label == nil else { return method(call) }
            wrapper(call, key: call.argument(nil), store: call.argument("suite"))
        case let name where call.variable != nil && declarations.types[name] == nil && name.isKnownWrapper:
            wrapper(
                call,
                key: call.argument(nil, "key"),
                store: call.argument("store", "userDefaults", "suite", "defaults")
            )
        default: method(call)
        }
    }

    private mutating func wrapper(_ call: Declarations.Call, key: ExprSyntax?, store: ExprSyntax?) {
        guard let key else { return }
        let labels = ["wrappedValue", "default", "defaultValue", "initialValue"]
        let binding = call.variable?.bindings.first
        let value = binding?.initializer?.value ?? call.arguments.first { labels.contains($0.label ?? "") }?.value
        let name =
            binding?.typeAnnotation?.type.trimmedDescription ?? call.generics.first
            ?? value.flatMap { declarations.typeName(of: $0) }
        let type = name.map { ValueType(name: $0.withoutOptional, exactness: .declared, node: call.node) }
        let fallback = value.flatMap { value in
            value.is(NilLiteralExprSyntax.self) ? nil : Fallback(origin: .declared, text: value.text, expression: value)
        }
        let place = store.map { declarations.store($0) ?? .computed($0.text) } ?? .standard
        add(call, .declare, key, place, type, fallback)
    }

    private mutating func method(_ call: Declarations.Call) {
        let base = call.base?.unwrapped
        let keyArgument = call.argument("forKey", "forKeyPath")
        guard keyArgument != nil || ["register", "publisher", "observe", "subscript"].contains(call.name) else {
            return
        }
        let store: Store
        if let base {
            guard let found = declarations.store(base) else { return }
            store = found
        } else {
            guard declarations.isInDefaults(call.node), call.name != "subscript" else { return }
            store = .caller
        }
        switch call.name {
        case "set", "setValue", "setObject":
            guard let keyArgument, let value = call.argument(nil) else { return }
            if value.is(NilLiteralExprSyntax.self) { return add(call, .remove, keyArgument, store) }
            add(call, .write, keyArgument, store, declarations.writtenType(of: value))
        case "removeObject":
            guard let keyArgument else { return }
            add(call, .remove, keyArgument, store)
        case "addObserver":
            guard let keyArgument else { return }
            add(call, .observe, keyArgument, store)
        case "register":
            guard let values = call.argument("defaults") else { return }
            register(call, values, store)
        case "publisher", "observe":
            guard let path = call.argument("for", nil)?.as(KeyPathExprSyntax.self),
                let name = path.components.last?.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName
                    .identifierText
            else { return }
            observe(call, property: name, store)
        case "subscript":
            // A subscript that the project adds to `UserDefaults` is followed as a function; this one is declared elsewhere.
            guard declarations.matching(call).isEmpty, call.arguments.count == 1, let key = call.arguments.first?.value
            else {
                return
            }
            let isWritten = call.node.parent?.as(ExprListSyntax.self).map {
                $0.first?.id == call.node.id && $0.dropFirst().first?.is(AssignmentExprSyntax.self) == true
            }
            add(call, isWritten == true ? .write : .read, key, store, declarations.readType(of: call.node, nil))
        default:
            guard let reader = Self.readers[call.name], let keyArgument else { return }
            let type = declarations.readType(of: call.node, reader.type)
            add(
                call,
                .read,
                keyArgument,
                store,
                type,
                declarations.alternative(to: call.node, implicit: reader.implicit)
            )
        }
    }

    /// Adds the use in `publisher(for: \.volume)`, whose key is the name of the property.
    private mutating func observe(_ call: Declarations.Call, property: String, _ store: Store) {
        let declared = declarations.variables[property, default: []].first { declarations.isInDefaults($0.binding) }
        let type = declared?.binding.typeAnnotation.map {
            ValueType(name: $0.type.trimmedDescription.withoutOptional, exactness: .declared, node: Syntax($0))
        }
        uses.append(
            Use(
                place: declarations.place(of: call.node),
                kind: .observe,
                key: KeyText([.text(property)]),
                store: store,
                type: type
            )
        )
    }

    /// Adds the keys of `register(defaults:)`: of the literal, or of the constant or variable with its later `defaults[key] = value`.
    private mutating func register(_ call: Declarations.Call, _ values: ExprSyntax, _ store: Store) {
        var literal = values.unwrapped
        if let sequence = literal.as(SequenceExprSyntax.self), let first = sequence.elements.first {
            literal = first.unwrapped
        }
        if case .value(let value, _)? = declarations.referenced(literal) { literal = value.unwrapped }
        // A dictionary that is created from such a constant.
        if !literal.is(DictionaryExprSyntax.self), let constant = declarations.dictionaryConstant(in: Syntax(literal)) {
            literal = constant
        }
        var found = false
        if case .elements(let elements)? = literal.as(DictionaryExprSyntax.self)?.content {
            for element in elements {
                found = true
                registered(element.key, element.value, store)
            }
        }
        if let name = values.referencedName {
            for assignment in declarations.calls["subscript", default: []]
            where assignment.base?.trimmedDescription == name && assignment.node.root.id == call.node.root.id {
                guard let list = assignment.node.parent?.as(ExprListSyntax.self), list.count == 3,
                    let key = assignment.arguments.first?.value, let value = list.last,
                    list.dropFirst().first?.is(AssignmentExprSyntax.self) == true
                else { continue }
                found = true
                registered(key, value, store)
            }
        }
        if !found, !(literal.as(DictionaryExprSyntax.self).map { $0.content.is(TokenSyntax.self) } ?? false) {
            let key = KeyText([.computed(values)])
            uses.append(Use(place: declarations.place(of: call.node), kind: .register, key: key, store: store))
        }
    }

    private mutating func registered(_ key: ExprSyntax, _ value: ExprSyntax, _ store: Store) {
        let fallback = Fallback(origin: .registered, text: value.text, expression: value)
        // `[.volume: 5]` in a constant that is declared as `[Key: Any]`.
        let declared = key.ancestors.lazy.compactMap { $0.as(PatternBindingSyntax.self)?.typeAnnotation?.type }.first
        let keyType = declared?.as(DictionaryTypeSyntax.self)?.key.trimmedDescription
        for text in declarations.keys(key, type: keyType) {
            uses.append(
                Use(
                    place: declarations.place(of: key),
                    kind: .register,
                    key: text,
                    store: store,
                    type: declarations.writtenType(of: value),
                    fallback: fallback
                )
            )
        }
    }

    private mutating func add(
        _ call: Declarations.Call,
        _ kind: Use.Kind,
        _ key: ExprSyntax,
        _ store: Store,
        _ type: ValueType? = nil,
        _ fallback: Fallback? = nil
    ) {
        for text in declarations.keys(key) {
            uses.append(
                Use(
                    place: declarations.place(of: call.node),
                    kind: kind,
                    key: text,
                    store: store,
                    type: type,
                    fallback: fallback
                )
            )
        }
    }
}

extension Declarations {
    /// Returns the first dictionary literal of a constant that a node refers to.
    fileprivate func dictionaryConstant(in node: Syntax) -> ExprSyntax? {
        if let expression = node.as(ExprSyntax.self), case .value(let value, _)? = referenced(expression),
            value.unwrapped.is(DictionaryExprSyntax.self)
        {
            return value.unwrapped
        }
        return node.children(viewMode: .sourceAccurate).lazy.compactMap { self.dictionaryConstant(in: $0) }.first
    }
}

extension String {
    /// Whether this is the usual name of a wrapper over `UserDefaults` whose declaration isn't in the sources.
    fileprivate var isKnownWrapper: Bool {
        contains("UserDefault") || ["Default", "DefaultsStorage", "CloudStorage"].contains(self)
    }

    /// The name of a type, without generic arguments and `?`.
    var withoutGenerics: String { String(withoutOptional.prefix { $0 != "<" }) }

    var withoutOptional: String {
        if hasSuffix("?") || hasSuffix("!") { return String(dropLast()).withoutOptional }
        if hasPrefix("Optional<"), hasSuffix(">") { return String(dropFirst(9).dropLast()).withoutOptional }
        if hasPrefix("("), hasSuffix(")"), !contains(",") { return String(dropFirst().dropLast()).withoutOptional }
        return self
    }
}
