import Foundation
import Glibc
import Measuring

/// The processor time of a package's first build, with the library as its only dependency.
enum ClientRow {
    private static let own = "one group of preferences"
    private static let bare = "one key of UserDefaults"

    static func measure(_ bench: Bench) throws -> Outcome {
        let clients = [
            (
                own, Contender.Kind.ours, ".package(name: \"swift-preferences\", path: \"\(root)\")",
                ".product(name: \"Preferences\", package: \"swift-preferences\")",
                """
                import Preferences

                struct PlayerPreferences: PreferenceGroup {
                    @Preference("volume", .range(0...10)) var volume = 5
                }
                let player = PlayerPreferences()
                player.volume = 7
                """
            ),
            (bare, .limit, "", "", "import Foundation\n\nUserDefaults.standard.set(7, forKey: \"volume\")"),
        ]
        var table = Table(
            "Build of a client",
            note:
                "The processor time of all processes of `swift build`, of a new package with one file; the sources are there."
        )
        // A release build takes a minute.
        for configuration in bench.isQuick ? ["debug"] : ["debug", "release"] {
            var figures: [(name: String, kind: Contender.Kind, value: Double)] = []
            for (name, kind, dependency, product, source) in clients {
                let folder = try bench.place.folder()
                try write(manifest(dependency, product), to: "\(folder)/Package.swift")
                try write(source, to: "\(folder)/Sources/client/main.swift")
                figures.append((name, kind, try processorTime(of: ["-c", configuration, "--package-path", folder])))
            }
            table.add(configuration, figures)
        }
        return Outcome(tables: [table])
    }

    private static let root = URL(filePath: #filePath).appending(path: "../../../../../..").standardizedFileURL.path

    private static func manifest(_ dependency: String, _ product: String) -> String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "client",
            platforms: [.macOS(.v15)],
            dependencies: [\(dependency)],
            targets: [.executableTarget(name: "client", dependencies: [\(product)])]
        )
        """
    }

    private static func write(_ text: String, to path: String) throws {
        let file = URL(filePath: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: file)
    }

    /// Returns the seconds that a build and the processes that it started have run.
    private static func processorTime(of arguments: [String]) throws -> Double {
        let before = childrenTime()
        let build = Process()
        build.executableURL = URL(filePath: "/usr/bin/env")
        build.arguments = ["swift", "build"] + arguments
        build.standardOutput = FileHandle.nullDevice
        try build.run()
        build.waitUntilExit()
        guard build.terminationStatus == 0 else { throw Failure("swift build \(arguments) failed") }
        return childrenTime() - before
    }

    private static func childrenTime() -> Double {
        var usage = rusage()
        // RUSAGE_CHILDREN, which Glibc declares with another type than the parameter's.
        getrusage(-1, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}
