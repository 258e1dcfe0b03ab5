#if canImport(Glibc) && DEBUG
import FoundationEssentials
import Glibc

/// A folder for an experiment, removed with this object.
final class Place {
    let path: String
    private let isKept: Bool

    init() throws {
        let root = getenv("TORTURE_FOLDER").map { String(cString: $0) } ?? "/tmp"
        path = "\(root)/torture-\(UUID().uuidString)"
        isKept = getenv("TORTURE_KEEP") != nil
        guard mkdir(path, 0o700) == 0 else { throw Obstacle("\(path) can't be made") }
    }

    deinit {
        if isKept { return print("    kept: \(path)") }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            print("\(path) could not be removed: \(error)")
        }
    }

    var file: String { path + "/config/preferences.jsonl" }
}

/// Returns nanoseconds of the clock that all processes share.
func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func pause(microseconds: Int) { usleep(UInt32(microseconds)) }
#endif
