import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

/// Every system call of every operation fails in turn: the file holds the old or the new state, memory agrees with it, and
/// the next call works. Without `FULL_TESTS` three calls fail in each case.
struct FaultTests {
    /// An operation on a log whose file holds `a` and `b`.
    enum Operation: CaseIterable, Sendable {
        case load, catchUp, replacedFile, firstSet, set, setAfterOthersWrote, setAfterUnfinishedLine, sync, compaction
        case compactionOfDamagedFile, compactionOfLink
    }

    static let kinds: [FaultyFileSystem.Fault.Kind] =
        [.inputOutput, .noSpace, .quota, .interrupted, .tooManyFiles, .accessDenied, .readOnlyFileSystem].map {
            .error($0)
        } + [.shortWrite(1), .shortWrite(3), .shortWrite(4), .shortWrite(5)]

    @Test(arguments: Operation.allCases, kinds)
    func failureLeavesTheOldOrTheNewState(_ operation: Operation, _ kind: FaultyFileSystem.Fault.Kind) throws {
        let undisturbed = try Run(operation)
        try undisturbed.check(FaultyFileSystem.Fault(kind, at: .max))
        let count = undisturbed.fileSystem.faultableCalls
        #expect(count > 0 || operation == .load || kind.isShortWrite, "no call can be made to fail")
        // Three calls for each kind of fault, and different ones for the next kind.
        let step = isFullTest ? 1 : max(1, 2 * count / 3)
        let offset = 2 * (Self.kinds.firstIndex(of: kind) ?? 0)
        for isLasting in [false, true] {
            for number in 0..<count where (number + offset + (isLasting ? 1 : 0)) % step == 0 {
                let run = try Run(operation)
                try run.check(FaultyFileSystem.Fault(kind, at: number, isLasting: isLasting))
                #expect(run.fileSystem.isFaultMet, "\(operation): call \(number) was not made to fail")
            }
        }
    }

    private struct Run {
        let operation: Operation
        let folder: TemporaryFolder
        let fileSystem = FaultyFileSystem()
        let worker = StoppedWorker()
        let log: LogFile<TextContents>
        let name: String

        init(_ operation: Operation) throws {
            self.operation = operation
            folder = try TemporaryFolder()
            name = operation == .firstSet ? "new/folder/log" : "log"
            if operation == .compactionOfLink {
                try folder.link("log", to: "real")
                try folder.write("a=1.\nb=0.\nb=1.\n", to: "real")
            } else if operation != .firstSet {
                try folder.write("a=1.\nb=0.\nb=1.\n", to: "log")
            }
            if operation == .compactionOfDamagedFile { try folder.append("!x\n", to: "log") }
            log = LogFile(path: folder.path(name), fileSystem: fileSystem, watcher: nil, worker: worker.queue)
            if operation == .load { return }
            try log.load(observer: ObserverRecord().observer)
            switch operation {
            case .catchUp, .setAfterOthersWrote: try folder.append("c=1.\nd=1.\n", to: "log")
            case .setAfterUnfinishedLine: try folder.append("c=", to: "log")
            case .replacedFile:
                try folder.write("a=7.\nc=1.\n", to: "other")
                try SystemFileSystem().rename(folder.path("other"), to: folder.path("log"))
            case .sync: try log.set("e", "1")
            default: break
            }
        }

        var stored: [String: String] {
            get throws {
                let log = try LogFile.open(folder.path(name))
                return log.values
            }
        }

        /// Performs the operation with the fault and checks all that must hold then and after the next calls without a
        /// fault.
        func check(_ fault: FaultyFileSystem.Fault) throws {
            let before = try stored
            fileSystem.begin(fault)
            var failure: LogError?
            do throws(LogError) { try perform() } catch { failure = error }
            fileSystem.end()
            let (after, known) = (try stored, log.values)
            let text = "\(operation) \(fault): \(failure.map { "\($0)" } ?? "no error")"
            let new = isSet ? before.merging(["x": "1"]) { $1 } : before
            var isUnknown = false
            if case .outcomeUnknown = failure { isUnknown = true }
            if failure == nil {
                same(after, new, "\(text)")
            } else if !isUnknown {
                same(after, before, "\(text)")
            }
            #expect(after == before || after == new, "\(text)")
            if failure == nil || isSet && !isCatchingUp { same(known, after, "\(text)") }

            // The next call without a fault.
            if operation == .load, failure != nil { try log.load(observer: ObserverRecord().observer) }
            try log.set("y", "2")
            let last = after.merging(["y": "2"]) { $1 }
            try same(stored, last, "\(text)")
            same(log.values, last, "\(text)")
            try log.sync()
            try same(stored, last, "\(text)")
            try log.compact()
            try same(stored, last, "\(text)")
            if operation == .compactionOfDamagedFile { #expect(try damagedCopyIsThere, "\(text)") }
            let left = try folder.names().filter { $0.hasSuffix(".new") }
            same(left, [], "\(text)")
        }

        private var isSet: Bool {
            switch operation {
            case .firstSet, .set, .setAfterOthersWrote, .setAfterUnfinishedLine: true
            default: false
            }
        }

        /// Whether the error might have kept the log from reading external changes.
        private var isCatchingUp: Bool { operation == .setAfterOthersWrote }

        private var damagedCopyIsThere: Bool {
            get throws {
                // A copy that could be neither finished nor removed keeps its number.
                try folder.names().contains { try $0.hasPrefix("log.damaged-") && folder.read($0).contains("!x\n") }
            }
        }

        private func perform() throws(LogError) {
            switch operation {
            case .load: try log.load(observer: ObserverRecord().observer)
            case .catchUp, .replacedFile: try log.catchUp()
            case .firstSet, .set, .setAfterOthersWrote, .setAfterUnfinishedLine: try log.set("x", "1")
            case .sync: try log.sync()
            case .compaction, .compactionOfDamagedFile, .compactionOfLink: try log.compact()
            }
        }
    }
}

extension FaultyFileSystem.Fault.Kind {
    fileprivate var isShortWrite: Bool {
        if case .shortWrite = self { true } else { false }
    }
}
