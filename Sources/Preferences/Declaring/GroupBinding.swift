internal import DurableFile

/// The store that `PreferenceGroup.init(in:)` gives to the preferences initialised while it runs.
final class GroupBinding: Sendable {
    @TaskLocal static var current: GroupBinding?

    private let store: PreferenceStore
    private let bound = Lock<[Bound]>([])

    private struct Bound {
        weak var declaration: (any AnyObject & Sendable)?
        let name: String
    }

    init(to store: PreferenceStore) {
        self.store = store
    }

    /// The store for a declaration that names none.
    static var store: PreferenceStore { current?.store ?? .standard }

    /// Remembers a declaration that took the bound store, for `reportStrays`.
    static func note(_ declaration: any AnyObject & Sendable, name: String) {
        guard let current else { return }
        // The argument of `assert` is not evaluated in release builds.
        assert(current.remember(declaration, name: name))
    }

    private func remember(_ declaration: any AnyObject & Sendable, name: String) -> Bool {
        bound.withLock { $0.append(Bound(declaration: declaration, name: name)) }
        return true
    }

    /// Reports the bound preferences that live on but are no part of `group`; always true, for use in `assert`.
    func reportStrays(outside group: Any) -> Bool {
        let own = Set(DeclaredPreferences.all(in: group).map { ObjectIdentifier($0.anyDeclaration) })
        let strays = bound.withLock { $0 }.filter {
            $0.declaration.map { !own.contains(ObjectIdentifier($0)) } ?? false
        }
        for name in strays.map(\.name) {
            store.report(
                PreferencesError(
                    .misuse,
                    name: name,
                    "a static or global preference was first touched inside \(type(of: group)).init(in:) "
                        + "and is bound to that group's store for good; "
                        + "give it an explicit in:, or don't use it in init()"
                )
            )
        }
        return true
    }
}
