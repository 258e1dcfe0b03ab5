#if canImport(Glibc)
import FileTestSupport
import Glibc
import TestSupport
import Testing

@testable import Preferences

// Swift marks it as unavailable.
@_silgen_name("fork") private func forkProcess() -> pid_t

/// A child of `fork` reads its parent's values, can't change its parent's stores, and opens its own; in processes of their own.
@Suite(.timeLimit(.minutes(5)))
struct ForkTests {
    /// Forks; a child that hangs is ended, also if the thread blocks signals.
    fileprivate static func fork() -> pid_t {
        let child = forkProcess()
        guard child == 0 else { return child }
        var signals = sigset_t()
        sigemptyset(&signals)
        sigprocmask(SIG_SETMASK, &signals, nil)
        alarm(60)
        return 0
    }

    /// Runs `body` in a child and returns its exit code.
    fileprivate static func child(_ body: () -> Int32) -> Int32 {
        let child = fork()
        if child == 0 { _exit(body()) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        return status
    }

    fileprivate static func code(_ body: () throws -> Void) -> PreferenceError.Code? {
        do {
            try body()
            return nil
        } catch { return PreferenceError(.unavailable, from: error).code }
    }

    /// What a child does with its parent's stores, and then `useOwn`.
    fileprivate static func use(_ parents: [PreferenceStore], _ round: Int) -> Int32 {
        for store in parents {
            guard store["fixed"] == 1, Preference("fixed", default: 0, in: store).value == 1 else { return 1 }
            guard code({ try store.write(2, for: "fixed") }) == .misuse else { return 2 }
            store["fixed"] = 2
            guard store["fixed"] == 1 else { return 3 }
            guard code({ try Preference("fixed", default: 0, in: store).update { $0 = 2 } }) == .misuse else {
                return 4
            }
        }
        return useOwn(over: parents, round)
    }

    /// What a child does with its own stores; returns the number of the first step that is wrong, or 0.
    fileprivate static func useOwn(over parents: [PreferenceStore], _ round: Int) -> Int32 {
        let own = PreferenceStore(backend: TableBackend(TableBackend.Table()))
        let count = Preference("count", default: 0, in: own)
        guard code({ try count.update { $0 += 1 } }) == nil, count.value == 1 else { return 5 }
        // Over the parent's sources, and a new one.
        let layered = PreferenceStore.layered([.inMemory()] + parents)
        layered["b"] = 4
        guard layered["b"] == 4, layered["fixed"] == 1 else { return 6 }
        // Its own pool stores what the child keeps.
        let database = Database()
        let locked = PreferenceStore(backend: LockedBackend(database))
        guard code({ try locked.write(1, for: "a") }) == nil, database.tryLock() else { return 7 }
        locked["a"] = 2
        database.unlock()
        while round % 10 == 0, database["a"] != 2 { usleep(100) }
        return code({ try locked.flush() }) == nil && database["a"] == 2 ? 0 : 8
    }

    @Test
    func childrenReadTheirParentsValuesAndOpenStoresOfTheirOwn() async {
        await #expect(processExitsWith: .success) {
            PreferenceStore.defaultIssueHandler = { _ in }
            let parents = [
                PreferenceStore.inMemory(["fixed": 1]),
                PreferenceStore(backend: TableBackend(TableBackend.Table())),
                PreferenceStore(backend: LockedBackend(Database())),
            ]
            for store in parents { try await store.write(1, for: "fixed") }
            // Swift's runtime has locks of its own while it makes a type for the first time, so all that the children do is done before.
            for round in 0..<3 { same(Self.useOwn(over: parents, round), 0) }
            for store in parents {
                let fixed = Preference("fixed", default: 0, in: store)
                same(fixed.value, 1)
                // In a body, as in a child, these are misuse.
                let code = Self.code {
                    try store.transaction { _ in
                        same(Self.code { try store.write(2, for: "fixed") }, .misuse)
                        same(Self.code { try fixed.update { $0 = 2 } }, .misuse)
                    }
                }
                same(code, nil)
            }
            let (isDone, running) = (Counter(), Counter())
            func start(_ body: @escaping @Sendable () -> Void) {
                running.next()
                let isStarted = Pool.startThread {
                    while isDone.value == 0 { body() }
                    running.next()
                }
                #expect(isStarted)
            }
            start { for store in parents { store["a"] = .integer(.random(in: 0...9)) } }
            // A body that has the turn and the place nearly always.
            start { for store in parents { _ = Self.code { try store.transaction { $0["b"] = 1 } } } }
            start { Preference("a", default: 0, in: parents[0]).observe { _ in }.cancel() }
            // Sets of sources that become one, and end.
            start { _ = PreferenceStore.layered([.inMemory(), parents[0]])["fixed"] }
            for round in 0..<rounds(200) {
                let status = Self.child { Self.use(parents, round) }
                if status != 0 {
                    Issue.record("child \(round): signal \(status & 0x7f), step \(status >> 8)")
                    break
                }
            }
            isDone.next()
            while running.value < 8 { await Task.yield() }
            for store in parents {
                try await store.write(3, for: "fixed")
                same(store["fixed"], 3)
            }
        }
    }

    /// The child leaves its parent's body, and doesn't store what that returns.
    @Test
    func childThatIsMadeInABodyChangesNothing() async {
        await #expect(processExitsWith: .success) {
            PreferenceStore.defaultIssueHandler = { _ in }
            let database = Database()
            let store = PreferenceStore(backend: LockedBackend(database))
            try await store.write(1, for: "count")
            let count = Preference("count", default: 0, in: store)
            var isChild = false
            let code = Self.code {
                try count.update { value in
                    value = 100
                    let child = Self.fork()
                    if child == 0 {
                        isChild = true
                        count.value = 50
                        return
                    }
                    var status: Int32 = 0
                    waitpid(child, &status, 0)
                    same(status, 0)
                }
            }
            if isChild { _exit(code == .misuse && database["count"] == 1 && count.value == 1 ? 0 : 3) }
            #expect(code == nil && count.value == 100)
        }
    }
}
#endif
