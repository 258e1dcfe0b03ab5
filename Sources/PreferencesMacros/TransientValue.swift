#if Macros
internal import Preferences

/// Used by the expansion of `@PreferenceGroup` on a class: the value of a `@Transient` property.
///
/// Any thread may use it. A read inside `withObservationTracking` is tracked like that of a preference, since each write also sets a
/// preference, in a separate store in memory.
public final class _TransientValue<Value: Sendable>: Sendable {
    private let state: Lock<(value: Value, revision: Int)>
    private let revision = Preference("revision", default: 0, in: .inMemory())

    /// Creates a value.
    public init(_ value: Value) { state = Lock((value, 0)) }

    /// The value; a write notifies the observers of the old value after the new one can be read.
    public var value: Value {
        get {
            _ = revision.value
            return state.withLock { $0.value }
        }
        set {
            // The old value is released outside the lock: its deinit may run other code.
            let old = state.withLock { state in
                let old = state
                state = (newValue, old.revision + 1)
                return old
            }
            revision.value = old.revision + 1
        }
    }
}

extension _TransientValue: CustomReflectable {
    /// A mirror without children: preferences in the value don't belong to the group.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
