import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Every system call of every operation fails in turn: the file holds the old or the new state, the store agrees with it, and the next call
/// succeeds.
struct LogFaultTests {
    enum Operation: CaseIterable, Sendable {
        case load, catchUp, replacedFile, firstSet, set, setAfterOthersWrote, setAfterUnfinishedLine, sync, compaction,
            compactionOfLink
    }

    static let faults: [FaultyFileSystem.Fault] =
        [EIO, ENOSPC, EDQUOT, EMFILE, EACCES, EROFS, ESTALE].map { .init(code: $0) }
        + [1, 6, 7, 8].map { .init(length: $0) }

    @Test(arguments: Operation.allCases, Array(faults.indices))
    func failureLeavesTheOldOrTheNewState(_ operation: Operation, _ index: Int) throws {
        let run = try Run(operation)
        var fault = Self.faults[index]
        fault.start = .max
        try run.check(fault)
        let count = run.count
        // Some calls for each kind of fault, and different ones for the next kind.
        let step = isFullTest ? 1 : 3
        for isLasting in [false, true] {
            for number in 0..<count where (number + index) % step == 0 {
                (fault.start, fault.isLasting) = (number, isLasting)
                try Run(operation).check(fault)
            }
        }
    }

    private final class Run {
        let operation: Operation
        let folder: TemporaryFolder
        let system = FaultyFileSystem()
        let path: String
        let log: Log
        var known: [String: PropertyListValue] = [:]
        var count = 0

        init(_ operation: Operation) throws {
            self.operation = operation
            folder = try TemporaryFolder()
            path = folder.path(operation == .firstSet ? "new/folder/log" : "log")
            let text = "{\"a\":1}\n{\"b\":0}\n{\"b\":1}\n"
            if operation == .compactionOfLink { try folder.link("log", to: "real") }
            if operation != .firstSet { try folder.write(text, to: operation == .compactionOfLink ? "real" : "log") }
            log = Log(path, system)
            if operation == .load { return }
            note(try log.look())
            switch operation {
            case .catchUp, .setAfterOthersWrote: try folder.append("{\"c\":1}\n{\"d\":1}\n", to: "log")
            case .setAfterUnfinishedLine: try folder.append("{\"c\":", to: "log")
            case .replacedFile:
                try folder.write("{\"a\":7}\n{\"c\":1}\n", to: "other")
                rename(folder.path("other"), path)
            case .sync: try set("e")
            default: break
            }
        }

        private func note(_ update: ExternalChanges) {
            switch update {
            case .none: break
            case .changes(let lines): for change in lines.joined() { known[change.name] = change.value }
            case .contents(_, let changes):
                known = [:]
                for change in changes { known[change.name] = change.value }
            }
        }

        private func set(_ name: String) throws {
            try log.change(until: .period(.milliseconds(50))) { update in
                note(update)
                return Array("{\"\(name)\":1}\n".utf8)
            }
            known[name] = 1
        }

        private var stored: [String: PropertyListValue] {
            get throws {
                guard case .contents(_, let changes) = try Log(path).look() else { return [:] }
                return Dictionary(changes.map { ($0.name, $0.value) }) { $1 }.compactMapValues(\.self)
            }
        }

        private func perform() throws {
            switch operation {
            case .load, .catchUp, .replacedFile: note(try log.look())
            case .firstSet, .set, .setAfterOthersWrote, .setAfterUnfinishedLine: try set("x")
            case .sync: try log.file.map { try system.syncContent($0) }
            case .compaction, .compactionOfLink: try log.compact(until: .period(.milliseconds(50)), note)
            }
        }

        func check(_ fault: FaultyFileSystem.Fault) throws {
            let before = try stored
            system.begin(fault)
            var failure: (any Error)?
            do { try perform() } catch { failure = error }
            count = system.matched
            system.begin()
            let after = try stored
            let text: Comment = "\(operation) \(fault.description): \(failure.map { "\($0)" } ?? "no error")"
            let isSet = [.firstSet, .set, .setAfterOthersWrote, .setAfterUnfinishedLine].contains(operation)
            let new = isSet ? before.merging(["x": 1]) { $1 } : before
            let isUnknown = (failure as? PreferenceError)?.code == .outcomeUnknown
            if failure == nil { same(after, new, text) } else if !isUnknown { same(after, before, text) }
            same(after == before || after == new, true, text)

            // The next calls without a fault.
            try set("y")
            note(try log.look())
            let last = after.merging(["y": 1]) { $1 }
            same(try stored, last, text)
            same(known, last, text)
            log.leastSize = 0
            try log.compact(until: .period(.seconds(5)), note)
            same(try stored, last, text)
            same(known, last, text)
            log.removeDrafts()
            same(try folder.names().filter { $0.hasSuffix(".new") }, [], text)
        }
    }

    // MARK: Limits

    private static func append(_ name: String, _ log: Log) throws {
        try log.change(until: .now) { _ in Array("{\"\(name)\":1}\n".utf8) }
    }

    @Test
    func limitOfTheSizeIsAnErrorBeforeTheKernelWouldEndTheProcess() throws {
        let folder = try TemporaryFolder()
        let system = FaultyFileSystem()
        let log = Log(folder.path("log"), system)
        try Self.append("a", log)
        system.limitSize(to: 12)
        let error = #expect(throws: FileSystemError.self) { try Self.append("b", log) }
        same(error.map { PreferenceError($0, isWriting: true).code }, .noSpace)
        same(try folder.read("log"), "{\"a\":1}\n")
        system.limitSize(to: 16)
        try Self.append("b", log)
        same(try folder.read("log"), "{\"a\":1}\n{\"b\":1}\n")
    }

    /// A line of which the rest can neither be written nor taken back.
    @Test
    func fragmentThatStaysIsAnUnknownOutcome() throws {
        let folder = try TemporaryFolder()
        let system = FaultyFileSystem()
        let log = Log(folder.path("log"), system)
        try Self.append("a", log)
        system.begin(.init(length: 7))
        let writes = Counter()
        system.beforeEachCall { [system] call, _ in
            guard call == "write", writes.next() == 1 else { return }
            system.begin(.init(code: EIO, start: 1, isLasting: true, calls: ["write", "ftruncate"]))
        }
        let error = #expect(throws: PreferenceError.self) { try Self.append("b", log) }
        same(error?.code, .outcomeUnknown)
        system.beforeEachCall(nil)
        system.begin()
        try Self.append("c", log)
        same(try folder.read("log").hasSuffix("\n{\"c\":1}\n"), true)
    }
}
