import SwiftSyntax

/// A key in one store, with all of its uses; a key that is only an expression has the uses in one function.
struct Finding {
    enum Resolution: String { case known, pattern, computed }

    struct Conflict {
        /// `types` or `defaults`.
        let subject: String
        /// Each value with the places that have it.
        let values: [(text: String, places: [Place])]
    }

    let name: String
    let resolution: Resolution
    let store: Store
    private(set) var uses: [Use]
    /// The type, if the uses determine one; `nil` for a fully computed key.
    let type: ValueType?
    let form: StoredForm
    /// The value if nothing is stored.
    let fallback: Fallback?
    /// The text of the default in a group; `nil` if a group can't use it.
    let writtenDefault: String?
    let conflicts: [Conflict]

    /// Returns the keys of all sources, sorted by store and name.
    static func all(in declarations: Declarations) -> [Finding] {
        struct Identity: Hashable {
            let store: Store
            let key: KeyText
            let resolution: Resolution
        }
        var groups: [Identity: [Use]] = [:]
        for var use in declarations.followed(UseFinder.uses(in: declarations)) {
            if use.store == .caller { use.store = .standard }
            let resolution: Resolution = use.key.name != nil ? .known : use.key.isPattern ? .pattern : .computed
            // A pattern means the same keys in each function; a single expression may mean different ones.
            let key = resolution == .computed ? use.key : KeyText([.text(use.key.description)])
            groups[Identity(store: use.store, key: key, resolution: resolution), default: []].append(use)
        }
        return groups.map { identity, uses in
            Finding(identity.key.description, identity.resolution, identity.store, uses, declarations)
        }.sorted {
            ($0.store, $0.resolution.order, $0.name, $0.uses[0].place)
                < ($1.store, $1.resolution.order, $1.name, $1.uses[0].place)
        }
    }

    /// Returns the finding with only the included uses, or `nil` if no use is left.
    func filtered(_ isIncluded: (Use) -> Bool) -> Finding? {
        var result = self
        result.uses = uses.filter(isIncluded)
        return result.uses.isEmpty ? nil : result
    }

    private init(
        _ name: String,
        _ resolution: Resolution,
        _ store: Store,
        _ uses: [Use],
        _ declarations: Declarations
    ) {
        let uses = uses.sorted { ($0.place, $0.kind.rawValue) < ($1.place, $1.kind.rawValue) }
        self.name = name
        self.resolution = resolution
        self.store = store
        self.uses = uses
        // A fully computed key is many keys, whose types and defaults are unrelated.
        guard resolution != .computed else {
            type = nil
            form = .untyped
            fallback = nil
            writtenDefault = nil
            conflicts = []
            return
        }
        type = Self.type(of: uses, declarations)
        form = type.map { declarations.storedForm(of: $0.name, at: $0.node) } ?? .untyped
        let form = form
        // A method's implicit value is used only if no other default is known: with a registered default, it returns that.
        let fallbacks = uses.compactMap { use in use.fallback.map { (use, $0) } }
        fallback = fallbacks.map(\.1).min { $0.origin < $1.origin }
        writtenDefault = fallback.flatMap { declarations.written($0, as: form).text }
        let isRegistered = fallback?.origin == .registered
        let relevant = fallbacks.filter { use, fallback in
            fallback.origin != .implicit || (!isRegistered && use.path.isEmpty)
        }
        conflicts =
            [
                Self.conflict("types", Self.storedTypes(uses, declarations)),
                Self.conflict(
                    "defaults",
                    relevant.map { use, fallback in
                        (fallback.text, declarations.written(fallback, as: form).comparable, use.place)
                    }
                ),
            ].compactMap(\.self)
    }

    /// Returns the most exact type; of several, the most frequent, and of those the first.
    private static func type(of uses: [Use], _ declarations: Declarations) -> ValueType? {
        func rank(_ type: ValueType, _ kind: Use.Kind) -> Int {
            let form = declarations.storedForm(of: type.name, at: type.node)
            if case .untyped = form { return 0 }
            if case .unusable = form, declarations.type(named: type.name, at: type.node) == nil { return 1 }
            let isRead = kind == .read || kind == .declare
            return 2 + (type.exactness == .declared ? 2 : 0) + (isRead ? 1 : 0)
        }
        var best: (type: ValueType, rank: Int, count: Int)?
        for use in uses {
            guard let type = use.type else { continue }
            let rank = rank(type, use.kind)
            let count = uses.count { $0.type?.name == type.name }
            if best.map({ (rank, count) > ($0.rank, $0.count) }) ?? true { best = (type, rank, count) }
        }
        return best?.type
    }

    /// Returns the type of each use that has one, as text and as its stored form.
    static func storedTypes(
        _ uses: [Use],
        _ declarations: Declarations
    ) -> [(text: String, comparable: String, place: Place)] {
        var types = uses.compactMap { use -> (text: String, comparable: String, place: Place)? in
            guard let type = use.type,
                let stored = declarations.storedForm(of: type.name, at: type.node).storedName
            else { return nil }
            // A literal as in `set(1, forKey:)` has the type that a read gives it.
            let isLiteral = type.exactness == .stored && type.node.is(IntegerLiteralExprSyntax.self)
            return (type.name, isLiteral ? "?" : StoredForm.integers.contains(stored) ? "Int" : stored, use.place)
        }
        if types.contains(where: { $0.comparable != "?" }) { types.removeAll { $0.comparable == "?" } }
        // Encoded values are written as data.
        if uses.contains(where: { $0.type?.coding != nil }) {
            types.removeAll { ["Data", "String"].contains($0.comparable) }
        }
        return types
    }

    private static func conflict(
        _ subject: String,
        _ values: [(text: String, comparable: String, place: Place)]
    ) -> Conflict? {
        var order: [String] = []
        var groups: [String: (String, [Place])] = [:]
        for (text, comparable, place) in values {
            if groups[comparable] == nil { order.append(comparable) }
            groups[comparable, default: (text, [])].1.append(place)
        }
        guard order.count > 1 else { return nil }
        return Conflict(
            subject: subject,
            values: order.compactMap { groups[$0] }.map { (text: $0.0, places: $0.1.unique.sorted()) }
        )
    }
}

extension Finding.Resolution {
    fileprivate var order: Int {
        switch self {
        case .known: 0
        case .pattern: 1
        case .computed: 2
        }
    }
}
