#if canImport(Glibc) && DEBUG
/// The roles of this program as a process that an experiment starts.
enum Worker {
    static func run(_ arguments: [String]) async throws {
        // No worker outlives the experiment, whatever happens to that: its input ends, or a write to its output kills
        // it.
        let number = { (index: Int) in Int(arguments[index]) ?? 0 }
        let path = arguments[1]
        switch arguments[0] {
        case "kill": try Kill.work(path, id: number(2), after: number(3))
        case "names": try Many.workNames(path, id: number(2), count: number(3))
        case "increments": try Many.workIncrements(path, count: number(2))
        case "compact": try Many.workCompacting(path)
        case "turns": try Turns.work(path)
        case "versions": try Versions.work(path, arguments[2], number(3))
        case "power": await Power.work(path, after: number(2))
        case "migrate": try await Migrate.work(path)
        case "keyring": try Keyring.work()
        case "places": try await Places.work(Array(arguments.dropFirst()))
        case "fork": try Fork.work(path, arguments[2], number(3))
        case "seen": try Seen.work(path)
        default: throw Obstacle("no such role")
        }
    }
}
#endif
