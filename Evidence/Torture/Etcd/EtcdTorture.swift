#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Glibc

// etcd-torture increments [count], fire [count [seed]], fleet [changes] [--names N]…, first-sets [stores], herd [clients [names]], restart [names],
// cost; the experiments start `worker …`.
@main
enum EtcdTorture {
    static func main() async {
        // Writing to a worker that has ended must not end this process; its missing output shows that it ended.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "increments": exit(try await Increments.run(try numbers(arguments, atMost: 1).first ?? 10_000))
            case "fire":
                let numbers = try numbers(arguments, atMost: 2)
                exit(try await Fire.run(numbers.first ?? 10_000, seed: numbers.dropFirst().first.map(UInt64.init)))
            case "fleet": exit(try await Fleet.run(Array(arguments.dropFirst())))
            case "first-sets": exit(try await FirstSets.run(try numbers(arguments, atMost: 1).first ?? 300))
            case "herd":
                let numbers = try numbers(arguments, atMost: 2)
                exit(try await Herd.run(numbers.first ?? 400, names: numbers.dropFirst().first ?? 5_000))
            case "restart": exit(try await Restart.run(try numbers(arguments, atMost: 1).first ?? 5_000))
            case "cost": exit(try await SuiteCost.run())
            case "worker": exit(try await Worker.run(Array(arguments.dropFirst())))
            default:
                print(
                    "usage: etcd-torture increments [count] | fire [count [seed]] | fleet [changes] [--names N]…"
                        + " | first-sets [stores] | herd [clients [names]] | restart [names] | cost"
                )
                exit(2)
            }
        } catch {
            print("FAILURE: \(error)")
            exit(1)
        }
    }

    /// Returns the numbers after the experiment's name, each more than zero.
    private static func numbers(_ arguments: [String], atMost limit: Int) throws -> [Int] {
        let numbers = try arguments.dropFirst().map { argument in
            guard let number = Int(argument), number > 0 else {
                throw EtcdObstacle("\(argument) isn't a number above 0; run etcd-torture alone for the usage")
            }
            return number
        }
        guard numbers.count <= limit else { throw EtcdObstacle("\(numbers[limit]) is a number too many") }
        return numbers
    }
}
#else
@main
enum EtcdTorture {
    static func main() { print("The experiments need Linux, glibc and the trait Etcd.") }
}
#endif
