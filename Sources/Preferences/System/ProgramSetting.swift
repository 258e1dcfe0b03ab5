/// A setting that the program may change only before it is used.
// Not constrained to `Equatable`: the type would look for the conformance among all in the process when it is first used.
package final class ProgramSetting<Value: Sendable>: Sendable {
    private let state: Lock<(value: Value, isFixed: Bool)>
    private let name: String

    init(_ value: Value, _ name: String) {
        state = Lock((value, false))
        self.name = name
    }

    var value: Value { state.withLock { $0.value } }

    func set(_ value: Value) where Value: Equatable {
        state.withLock { state in
            precondition(
                !state.isFixed || state.value == value,
                "\(name) was set after the first use of a shared store. Set it first thing in the program."
            )
            state.value = value
        }
    }

    /// Returns the value, which can't be changed afterwards, and whether it could be changed before.
    package func fix() -> (value: Value, isFirst: Bool) {
        state.withLock { state in (state.value, !exchange(&state.isFixed, with: true)) }
    }
}
