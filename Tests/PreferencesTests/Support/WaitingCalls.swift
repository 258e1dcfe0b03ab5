import Preferences
import Testing

/// Repeats a call until it is made in its time, as how long the threads of a test have to wait is not known.
func persist(_ body: () async throws -> Void) async throws {
    while true {
        do { return try await body() } catch PreferenceError.busy { await Task.yield() }
    }
}

/// Starts tasks of which each writes a name of its own, in turn by each `async` form.
func startWriters(_ count: Int, to store: PreferenceStore) -> [Task<Void, any Error>] {
    (0..<count).map { index in
        Task {
            switch index % 4 {
            case 0: try await Preference("\(index)", default: 0, in: store).write(1)
            case 1: try await Preference("\(index)", default: 0, in: store).update { $0 += 1 }
            case 2: try await store.transaction { $0["\(index)"] = 1 }
            default: try await store.write(1, for: "\(index)")
            }
        }
    }
}

/// Expects that a suspending call throws an error with a code.
func expectError(
    _ code: PreferenceError.Code,
    at location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await #expect(throws: PreferenceError.self, sourceLocation: location) { try await body() }
    #expect(error?.code == code, sourceLocation: location)
}

/// Expects that a blocking call throws an error with a code.
func expectError(
    _ code: PreferenceError.Code,
    at location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    let error = #expect(throws: PreferenceError.self, sourceLocation: location) { try body() }
    #expect(error?.code == code, sourceLocation: location)
}
