import Dispatch

extension DispatchQueue {
    /// The queue of the blocking work of commands.
    static let commands = DispatchQueue(label: "prefs.commands")

    /// Runs blocking work of a task on this queue, whose threads run no tasks: a store on a server waits there.
    func run<Result>(_ body: @escaping () throws -> sending Result) async throws -> sending Result {
        try await withCheckedThrowingContinuation { continuation in
            nonisolated(unsafe) let body = body
            async {
                do { continuation.resume(returning: try body()) } catch { continuation.resume(throwing: error) }
            }
        }
    }
}
