import Preferences
import PreferencesTesting
import Synchronization
import TestSupport
import Testing

// snippet: own backend
/// Stores the settings of a document in the document, which is saved as a whole.
struct DocumentBackend: PreferenceBackend {
    let document: Document

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        document.settings.withLock { $0 }
    }

    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        document.settings.withLock { settings in
            guard condition.holds(for: settings) else { return PreferenceBackendCommit(isStored: false) }
            for (name, value) in changes { settings[name] = value }
            return PreferenceBackendCommit(isStored: true)
        }
    }

    func sync() throws(PreferenceError) {
        do { try document.save() } catch {
            throw PreferenceError(.notDurable, "the document can't be saved", cause: error)
        }
    }
}
// end

final class Document: Sendable {
    let settings = Mutex<[String: PropertyListValue]>([:])
    let isSaved = Mutex(false)

    func save() throws { isSaved.withLock { $0 = true } }
}

struct BackendSnippets {
    @Test
    func documentKeepsItsSettings() async throws {
        let document = Document()
        // snippet: own store
        let store = PreferenceStore(backend: DocumentBackend(document: document))
        let zoom = Preference("zoom", default: 100, in: store)
        // end
        zoom.value = 150
        same(document.settings.withLock { $0 }, ["zoom": 150])
        try await store.flush()
        #expect(document.isSaved.withLock { $0 })
    }

    @Test
    func documentBackendKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify { DocumentBackend(document: Document()) }
    }
}
