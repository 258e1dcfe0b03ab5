#if Macros
internal import DurableFile
internal import Preferences

/// Used by the expansion of `@PreferenceGroup` on a class: the value of a property that is `@Transient`.
///
/// Any thread may use it. A read inside `withObservationTracking` is tracked as that of a preference is, since each set also sets a
/// preference, in a store in memory of its own.
public final class _TransientValue<Value: Sendable>: Sendable {
    private let state: Lock<(value: Value, revision: Int)>
    private let revision = Preference("revision", default: 0, in: .inMemory())

    /// Creates a value.
    public init(_ value: Value) { state = Lock((value, 0)) }

    /// The value; a set notifies those who read the old one, once the new one can be read.
    public var value: Value {
        get {
            _ = revision.value
            return state.withLock { $0.value }
        }
        set {
            // The old value ends outside of the lock: its deinit may run other code.
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
    /// Without children: preferences in the value are not the group's.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
