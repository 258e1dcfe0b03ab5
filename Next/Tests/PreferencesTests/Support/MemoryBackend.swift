import Preferences

/// A backend with some values, of which its store keeps the changes.
final class MemoryBackend: PreferenceBackend {
    let place = "memory"
    let saysWhenItWaits = true
    private let contents: [String: PropertyListValue]

    init(_ contents: [String: PropertyListValue] = [:]) { self.contents = contents }

    func load(host: PreferenceBackendHost) -> [StoredChange] { contents.map { StoredChange($0.key, $0.value) } }

    func catchUp() -> ExternalChanges { .none }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        _ = try body(.none)
    }
}
