#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Glibc

// etcd-torture increments [count], fire [count [seed]], fleet [changes] [--names N]…, cost and blackhole [seconds];
// `worker …` is for themselves.
@main
enum EtcdTorture {
    static func main() async {
        // A worker that is gone shows in what it said.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let count = arguments.dropFirst().first.flatMap { Int($0) }
        do {
            switch arguments.first {
            case "increments": exit(try await Increments.run(count ?? 10_000))
            case "fire":
                let seed = arguments.dropFirst(2).first.flatMap { UInt64($0) }
                exit(try await Fire.run(count ?? 10_000, seed: seed))
            case "fleet": exit(try await Fleet.run(Array(arguments.dropFirst())))
            case "cost": exit(try await SuiteCost.run())
            case "blackhole": exit(try await BlackHoleExperiment.run(count ?? 15))
            case "worker": exit(try await Worker.run(Array(arguments.dropFirst())))
            default:
                print(
                    "usage: etcd-torture increments [count] | fire [count [seed]] | fleet [changes] [--names N]… | cost"
                        + " | blackhole [seconds]"
                )
                exit(2)
            }
        } catch {
            print("FAILURE: \(error)")
            exit(1)
        }
    }
}
#else
@main
enum EtcdTorture {
    static func main() { print("The experiments need Linux, glibc and the trait Etcd.") }
}
#endif
