#if canImport(SwiftUI)
internal import Observation
public import SwiftUI
internal import Synchronization

extension Preference {
    /// A binding to the value, for controls.
    ///
    /// The bindings of one preference are equal, so a view that gets one is evaluated again only if the value changed, and not
    /// whenever the view around it is. A body that creates the binding is evaluated again when the value changes,
    /// even if only the control reads the value. A set that is rejected is reported to the store's issue handler, and the
    /// control shows the stored value again. The binding's transaction, and so its animation, applies to the views that
    /// the change updates.
    public var binding: Binding<Value> {
        // Registers with Observation, as some controls read their binding where reads aren't tracked.
        _ = value
        let place = BindingPlaces.place(of: declaration)
        return Bindable(place)[dynamicMember: place.keyPath]
    }

    /// Sets the value for a view, and has the view evaluated again if it would show a value that isn't stored.
    @usableFromInline
    func setFromView(_ value: Value) {
        declaration.setFromView(value)
    }
}

extension PreferenceDeclaration {
    /// Sets the value, or reports and returns the error if that fails.
    ///
    /// The control already shows the value. If the set is rejected, or a stronger layer hides the value, nothing changes for the
    /// value's readers, so Observation is notified here.
    ///
    /// - Parameter notStored: Called before Observation is notified.
    @discardableResult
    package func setFromView(_ value: Value, notStored: () -> Void = {}) -> PreferenceError? {
        let declaration = resolved
        var rejection: PreferenceError?
        do throws(PreferenceError) {
            try declaration.write(value)
            let source = declaration.source(among: declaration.registered())
            guard source != .store, source != .default else { return nil }
        } catch {
            rejection = error.named(name)
            declaration.store.report(error.named(name))
        }
        notStored()
        declaration.store.core.signal(declaration.node)
        return rejection
    }
}

// MARK: The identity of a binding

// `Binding(get:set:)` is never equal to another one, so each view that gets one is evaluated whenever the view around it is. Bindings by
// key paths are equal if object and key path are, and have the value of the moment when they were created: a view is evaluated
// again if that changed. Apple's documentation doesn't say so; OpenSwiftUI's `Binding+ObjectLocation.swift` and `Location.swift`,
// which follow SwiftUI's binaries, do. Keeping a binding by closures instead would keep the value with which it was created.

/// The object to which the bindings of a preference refer; lives while at least one of them does.
private class AnyBindingPlace: @unchecked Sendable {  // immutable
    /// The object that all declarations share whose bindings may be equal.
    let slot: PreferenceCell

    init(_ slot: PreferenceCell) { self.slot = slot }
}

// Only an atomic changes.
private final class BindingPlace<Value: Sendable>: AnyBindingPlace, Observable, @unchecked Sendable {
    private let declaration: PreferenceDeclaration<Value>
    private let keyPaths: BindingKeyPaths<Value>
    /// The number of rejected sets.
    ///
    /// After each, the bindings have another key path: the control that shows the rejected value gets a binding that differs
    /// from its own, and is evaluated even if Observation doesn't track its reads.
    private let rejections = Atomic<Int>(0)

    init(_ declaration: PreferenceDeclaration<Value>, _ keyPaths: BindingKeyPaths<Value>) {
        self.declaration = declaration
        self.keyPaths = keyPaths
        super.init(declaration.slot)
    }

    var keyPath: ReferenceWritableKeyPath<BindingPlace, Value> {
        rejections.load(ordering: .relaxed).isMultiple(of: 2) ? keyPaths.even : keyPaths.odd
    }

    var even: Value {
        get { declaration.value }
        set { set(newValue) }
    }

    var odd: Value {
        get { declaration.value }
        set { set(newValue) }
    }

    private func set(_ value: Value) {
        declaration.setFromView(value) { rejections.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Returns whether bindings of a declaration with the same slot may refer to this place: its default must be equal, too.
    func serves(_ declaration: PreferenceDeclaration<Value>) -> Bool {
        guard self.declaration !== declaration else { return true }
        guard let known = self.declaration.makeDefault() as? any Equatable else { return false }
        return isEqual(known, to: declaration.makeDefault())
    }

    private func isEqual<Known: Equatable>(_ known: Known, to other: Value) -> Bool { known == other as? Known }
}

/// The key paths to a preference's value; a literal of a generic type's key path takes 1.7 µs at each use.
private final class BindingKeyPaths<Value: Sendable>: Sendable {
    // Key paths of stored literals are immutable.
    nonisolated(unsafe) let even: ReferenceWritableKeyPath<BindingPlace<Value>, Value> = \.even
    nonisolated(unsafe) let odd: ReferenceWritableKeyPath<BindingPlace<Value>, Value> = \.odd
}

private enum BindingPlaces {
    private struct State {
        /// The places, by their slots.
        var places: [ObjectIdentifier: Entry] = [:]
        /// The key paths, by the type of the value.
        var keyPaths: [ObjectIdentifier: any AnyObject & Sendable] = [:]
        /// The number of places above which the unused ones are removed.
        var limit = 64
    }

    private struct Entry {
        weak var place: AnyBindingPlace?
    }

    private static let state = Lock(State())

    /// Returns the place of all bindings of a preference; creates it if it doesn't exist.
    static func place<Value>(of declaration: PreferenceDeclaration<Value>) -> BindingPlace<Value> {
        let slot = ObjectIdentifier(declaration.slot)
        let known = state.withLock { $0.places[slot]?.place }
        // The slot of a place that was released may have had the same address.
        if let known, known.slot === declaration.slot {
            let place = unsafeDowncast(known, to: BindingPlace<Value>.self)
            if place.serves(declaration) { return place }
        }
        let type = ObjectIdentifier(Value.self)
        let kept = state.withLock { $0.keyPaths[type] }
        let keyPaths = kept.map { unsafeDowncast($0, to: BindingKeyPaths<Value>.self) } ?? BindingKeyPaths()
        let place = BindingPlace(declaration, keyPaths)
        let others = state.withLock { state -> [AnyBindingPlace] in
            state.keyPaths[type] = keyPaths
            state.places[slot] = Entry(place: place)
            guard state.places.count > state.limit else { return [] }
            let others = state.places.values.compactMap(\.place)
            state.places = state.places.filter { $0.value.place != nil }
            state.limit = max(64, state.places.count * 2)
            return others
        }
        // Releases the places without the lock: one may be the last reference, and its release may call foreign code.
        withExtendedLifetime(others) {}
        return place
    }
}
#endif
