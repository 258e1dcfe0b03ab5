#if canImport(Glibc)
import Preferences

/// Every state that a loss of power may leave at every moment of some short lives of a file.
enum Crash {
    private static let path = "/home/user/config/preferences.jsonl"

    /// One thing that one of two processes does.
    private enum Step {
        case set(Int, String)
        /// Two names in one line.
        case pair(Int)
        case flush(Int)
        case compact(Int)
        /// A shell is ended in the middle of a line.
        case fragment
    }

    private static let lives: [[Step]] = [
        [.set(0, "a"), .flush(0), .pair(0), .set(0, "a"), .flush(0), .pair(0)],
        [.pair(1), .set(1, "a"), .set(0, "b"), .flush(0)],
        [.set(0, "a"), .compact(0), .set(0, "b"), .flush(0)],
        [.set(0, "a"), .flush(0), .fragment, .set(0, "a"), .flush(0), .compact(0), .pair(0), .flush(0)],
        [.pair(0), .set(0, "a"), .set(0, "a"), .flush(0), .pair(0), .compact(0), .set(0, "b"), .flush(0)],
        [.pair(0), .set(1, "a"), .flush(1), .compact(0), .pair(1), .flush(1), .compact(1), .set(0, "b"), .flush(0)],
    ]

    static func run(_ count: Int, _ report: inout Report) async throws {
        var (runs, moments, states, distinct, calls) = (0, 0, 0, 0, 0)
        var generator = Generator(state: 1)
        let all = lives + (0..<count).map { _ in randomLife(&generator) }
        for (number, life) in all.enumerated() where report.failures.isEmpty {
            var failing: Int?
            // Without a failure first, then each sync of that run fails in turn.
            var syncs = 0
            repeat {
                let (operations, made) = try await live(life, failingSync: failing)
                if failing == nil { syncs = number < lives.count ? made : 0 }
                var checker = Checker(path: path)
                do {
                    try checker.check(operations)
                } catch {
                    let steps = life.map { "\($0)" }.joined(separator: ", ")
                    report.expect(
                        false,
                        "\(error); in the life \(steps); failing sync: \(failing.map { "\($0)" } ?? "none")"
                    )
                }
                runs += 1
                moments += checker.moments
                states += checker.states
                distinct += checker.distinct
                calls += operations.count
                failing = (failing ?? -1) + 1
            } while failing ?? 0 < syncs && report.failures.isEmpty
        }
        report.note(
            "\(runs) lives of a file (\(lives.count) chosen, each with every sync failing in turn, and \(count) at random), "
                + "\(calls) changing calls"
        )
        report.note(
            "\(states) states after a loss of power at \(moments) moments, \(distinct) of them distinct: what was flushed is "
                + "there in all, what wasn't is old or new, and the next set works"
        )
    }

    /// Does the steps on a fresh file system and returns what happened to it.
    private static func live(_ life: [Step], failingSync: Int?) async throws -> ([Operation], syncs: Int) {
        let fileSystem = ModelFileSystem(.folder(["home": .folder([:])]), failingSync: failingSync)
        var backends: [FileBackend?] = [nil, nil]
        // Of how many sets each process knows.
        var known = [0, 0]
        var (issued, number) = (0, 0)
        var fragments: [(text: String, issued: Int)] = []

        func backend(_ process: Int) throws -> FileBackend {
            if let backend = backends[process] { return backend }
            let backend = FileBackend(path: path, fileSystem: fileSystem, watcher: nil)
            _ = try backend.load(host: PreferenceBackendHost(changed: {}, report: { _ in }))
            backends[process] = backend
            return backend
        }
        func set(_ process: Int, _ names: [String]) throws {
            number += 1
            let values = Dictionary(uniqueKeysWithValues: names.map { ($0, number) })
            fileSystem.mark(.issued(values))
            issued += 1
            do {
                _ = try backend(process).apply(values.mapValues { .integer(Int64($0)) }, if: .none)
                known[process] = issued
            } catch {
                if failingSync == nil { throw error }
            }
        }
        for step in life {
            switch step {
            case .set(let process, let name): try set(process, [name])
            case .pair(let process): try set(process, ["left", "right"])
            case .flush(let process):
                do {
                    try await backend(process).flush()
                    fileSystem.mark(.flushed(known[process]))
                    // A set that came after it has ended the line.
                    for fragment in fragments where fragment.issued < known[process] {
                        fileSystem.mark(.kept(fragment.text))
                    }
                } catch {
                    if failingSync == nil { throw error }
                }
            case .compact(let process):
                do { try backend(process).compact() } catch {
                    if failingSync == nil { throw error }
                }
            case .fragment:
                number += 1
                let fragment = "{\"cut\":\"\(number)"
                do { try fileSystem.append(fragment, to: path) } catch { continue }
                fragments.append((fragment, issued))
            }
        }
        let operations = fileSystem.operations
        return withExtendedLifetime(backends) { (operations, fileSystem.syncs) }
    }

    private static func randomLife(_ generator: inout Generator) -> [Step] {
        (0..<Int.random(in: 4...10, using: &generator)).map { _ in
            let process = Int.random(in: 0...1, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<3: return .set(process, Bool.random(using: &generator) ? "a" : "b")
            case 3..<5: return .pair(process)
            case 5..<8: return .flush(process)
            case 8: return .compact(process)
            default: return .fragment
            }
        }
    }

    /// The same numbers in every run (SplitMix64).
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
#endif
