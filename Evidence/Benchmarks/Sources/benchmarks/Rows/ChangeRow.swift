import Foundation
import Glibc
import Measuring
import Preferences

/// The time after which another process is notified of a set.
enum ChangeRow {
    private static let bare = "bare inotify"
    private static let title = "from the call of the set to the observer"

    static func measure(_ bench: Bench) throws -> Outcome {
        let samples = Samples(count: 1000)
        let name = samples.names(.integer, most: 1)[0]
        let folder = try bench.place.folder()
        let store = try Ours.inFile(folder, samples)
        let preference = Preference(name, default: 0, in: store)
        let path = folder + "/bare"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(path) can't be made") }
        defer { close(descriptor) }

        var observers: [Child] = []
        var contenders = [
            try contender(Ours.file, .ours, folder, name, &observers) { preference.value = $0 }
        ]
        let dconf = try bench.filled(.dconfQueued, samples)
        if let dconf {
            contenders.append(
                try contender(dconf.kind.product, .peer, dconf.folder, name, &observers) {
                    try dconf.peer.set(.integer($0), for: name)
                }
            )
        }
        contenders.append(
            try contender(bare, .limit, folder, name, &observers) { time in
                withUnsafeBytes(of: time) { _ = pwrite(descriptor, $0.baseAddress, $0.count, 0) }
            }
        )
        var table = Table(
            "Change seen by another process",
            note:
                "Each set is followed by a pause once it was seen. The other peers notify no process of a change; MMKV calls "
                + "back when that process uses it again."
        )
        try withExtendedLifetime(contenders) {
            try table.add(title, bench.effort, contenders)
            // Before dconf is emptied: GLib aborts a process that is notified of more than 256 changes at once.
            for observer in observers { observer.end() }
        }
        return Outcome(
            tables: [table],
            aims: [
                table.aim(
                    "change seen by another process",
                    "≤ 3× bare inotify",
                    Ours.file,
                    comparedTo: bare,
                    title,
                    .atMost(3)
                ),
                table.aim(
                    "change seen by another process",
                    "≥ 20× faster than dconf's callback",
                    Ours.file,
                    comparedTo: PeerKind.dconf.product,
                    title,
                    .atLeast(20)
                ),
            ]
        )
    }

    /// Sets the time of the call, so that the observer knows how long ago that was.
    private static func contender(
        _ what: String,
        _ kind: Contender.Kind,
        _ folder: String,
        _ name: String,
        _ observers: inout [Child],
        _ set: @escaping (Int) throws -> Void
    ) throws -> Contender {
        let observer = try Child(role: role.name, what, folder, name)
        observers.append(observer)
        _ = try observer.readLine()
        return Contender(what, kind) {
            median(
                try (0..<10).map { _ in
                    // The observer has to be waiting again when the next set comes, as in practice.
                    usleep(.random(in: 200...800))
                    try set(now())
                    return try observer.readNumber() * 1e-9
                }
            )
        }
    }

    /// Writes for each change how many nanoseconds ago it was set.
    static let role = Role(name: "observe") { arguments in
        let (what, folder, name) = (arguments[0], arguments[1], arguments[2])
        switch what {
        case Ours.file:
            let store = try PreferenceStore.file(at: Ours.url(folder))
            let observation = Preference(name, default: 0, in: store).observe { writeLine("\(now() - $0.new)") }
            writeLine("ready")
            // Wait until the parent ends.
            withExtendedLifetime(observation) { while readLine() != nil {} }
        case bare:
            try observeBare(folder + "/bare")
        default:
            let peer = try GSettingsPeer(folder, isWaiting: false)
            writeLine("ready")
            peer.observe(name) {
                let time = now()
                if case .integer(let number) = peer.value(of: name, as: .integer) { writeLine("\(time - number)") }
            }
        }
    }

    private static func observeBare(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        let queue = inotify_init1(Int32(IN_CLOEXEC))
        guard file >= 0, inotify_add_watch(queue, path, UInt32(IN_MODIFY)) >= 0 else { throw Failure("no inotify") }
        writeLine("ready")
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(queue, &buffer, buffer.count) > 0 {
            let time = now()
            var set = 0
            _ = withUnsafeMutableBytes(of: &set) { pread(file, $0.baseAddress, $0.count, 0) }
            writeLine("\(time - set)")
        }
    }
}
