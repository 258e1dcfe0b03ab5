internal import DurableFile

/// What an iterator of `PreferenceUpdates` and its subscription share.
///
/// Elements wait as closures: they are decoded by the consumer, not by the thread that sets.
final class UpdatesStorage<Element: Sendable>: Sendable {
    typealias Thunk = @Sendable () -> Element
    private typealias Machine = UpdatesStateMachine<Thunk, UnsafeContinuation<Thunk?, Never>>

    private let machine: Lock<Machine>

    init(_ buffering: PreferenceBuffering) {
        machine = Lock(Machine(buffering))
    }

    /// Adds an element; may be called under a lock, but what it returns only after its release.
    func yield(_ element: @escaping Thunk) -> Resumption {
        Resumption(continuation: machine.withLock { $0.yield(element) }, element: element)
    }

    /// A consumer that may have to be resumed.
    struct Resumption: Sendable {
        fileprivate let continuation: UnsafeContinuation<Thunk?, Never>?
        fileprivate let element: Thunk

        func callAsFunction() {
            continuation?.resume(returning: element)
        }
    }

    func next(isolation actor: isolated (any Actor)?) async -> Element? {
        let element = await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: actor) { continuation in
                    switch machine.withLock({ $0.next(continuation) }) {
                    case .element(let element): continuation.resume(returning: element)
                    case .finished: continuation.resume(returning: nil)
                    case .wait: break
                    }
                }
            },
            onCancel: {
                machine.withLock { $0.finish() }?.resume(returning: nil)
            },
            isolation: actor
        )
        return element?()
    }
}
