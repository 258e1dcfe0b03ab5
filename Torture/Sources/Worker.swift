#if canImport(Glibc)
/// What this program does when an experiment starts it as a process of its own.
enum Worker {
    static func run(_ arguments: [String]) async throws {
        // None outlives the experiment, whatever happens to that: its input ends, or a write to its output kills it.
        let number = { (index: Int) in Int(arguments[index]) ?? 0 }
        let path = arguments[1]
        switch arguments[0] {
        case "kill": try Kill.work(path, id: number(2), after: number(3))
        case "names": try Many.workNames(path, id: number(2), count: number(3))
        case "increments": try Many.workIncrements(path, count: number(2))
        case "compact": try Many.workCompacting(path)
        case "turns": try Turns.work(path)
        case "power": await Power.work(path, after: number(2))
        case "migrate": try await Migrate.work(path)
        case "keyring": try Keyring.work()
        case "latency": try Latency.work(path, bare: arguments[2])
        default: throw Obstacle("no such role")
        }
    }

    /// Says that the work is done and waits for the experiment to say that all is.
    ///
    /// What an appender without the lock writes to a file that was just compacted is collected for a second; a program
    /// that ends earlier can't.
    static func finish() {
        writeLine("done", to: 1)
        while readLine() != nil {}
    }
}
#endif
