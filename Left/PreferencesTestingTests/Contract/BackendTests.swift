import FaultTestSupport
import FileTestSupport
import Preferences
import PreferencesTesting
import Testing

@testable import Preferences

/// Every backend of the package keeps the contract.
struct BackendTests {
    @Test
    func memoryBackendKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify { MemoryBackend() }
    }

    @Test(arguments: [PreferenceDurability.background, .immediate])
    func fileBackendKeepsTheContract(durability: PreferenceDurability) async throws {
        try await PreferenceBackendContract.verify {
            try filePlace { FileBackend(path: $0, durability: durability, fileSystem: $1) }
        }
    }

    @Test
    func faultInjectingBackendKeepsTheContractWithoutFaults() async throws {
        try await PreferenceBackendContract.verify { FaultInjectingBackend() }
        try await PreferenceBackendContract.verify {
            let place = MemoryPlace()
            let opened = Lock<[FaultInjectingBackend]>([])
            return PreferenceBackendPlace(failNextWrite: {
                for backend in opened.withLock({ $0 }) { backend.failNext(.apply) }
            }) {
                let backend = FaultInjectingBackend(over: MemoryPlaceBackend(place, nil))
                opened.withLock { $0.append(backend) }
                return backend
            }
        }
    }

    /// Returns a place in a new file whose next write can be made to fail.
    private func filePlace(
        _ make: @escaping @Sendable (String, any FileSystem) -> any PreferenceBackend
    ) throws -> PreferenceBackendPlace {
        let folder = try TemporaryFolder()
        let path = folder.path("preferences.jsonl")
        let fileSystem = FaultyFileSystem()
        // The clock runs because instances wait for each other.
        fileSystem.startClock()
        return PreferenceBackendPlace(failNextWrite: {
            // Only this file's writes, not those of a compaction.
            fileSystem.begin(.init(.error(.noSpace), calls: ["write"], path: path))
        }) {
            // Keeps the folder while the place is in use.
            withExtendedLifetime(folder) { make(path, fileSystem) }
        }
    }
}
