import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@main
struct PrefsAdopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefs-adopt",
        abstract: "Find the keys of UserDefaults in Swift sources, and declare them as preferences.",
        discussion: """
            Lists each key with its type, its default, its uses, and conflicting defaults or types. With --group, writes \
            the preference group that declares the keys. With --check, warns of each use, for CI.

            Finds objects of UserDefaults, @AppStorage, wrappers and functions that pass a key on, and keys in \
            constants, enums and interpolations, across files. A key that is computed at run time is listed by its \
            expression. Doesn't search @SceneStorage, Objective-C, storyboards and other languages, or hidden folders, \
            Pods, Carthage, DerivedData, SourcePackages and node_modules.

            Exit codes: 0 done; 1 --check found uses; 2 wrong usage; 5 a file couldn't be read or written.
            """,
        version: "0.1.0"
    )

    @Argument(help: "Files and folders with Swift sources.") var paths: [String] = ["."]

    @Flag(help: "Show a JSON array of the keys.") var json = false

    @Option(help: ArgumentHelp("Write a preference group of this name.", valueName: "name")) var group: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Write to a file that doesn't exist yet.", valueName: "file"))
    var output: String?

    @Flag(help: "Show each use as a warning of the compiler, and exit with 1 if there is one.") var check = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("With --check, allow a key, file or folder; * and ? are wildcards.", valueName: "pattern")
    )
    var allow: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Leave out a file or folder; * and ? are wildcards.", valueName: "pattern")
    )
    var exclude: [String] = []

    @Flag(help: .hidden) var stubs = false

    func validate() throws {
        if [json, group != nil, check].count(where: \.self) > 1 {
            throw ValidationError("--json, --group and --check exclude each other; give one of them")
        }
        if !allow.isEmpty, !check { throw ValidationError("--allow needs --check") }
        if let group, !group.isTypeName { throw ValidationError("\"\(group)\" isn't a valid name of a Swift type") }
        if let missing = paths.first(where: { !FileManager.default.fileExists(atPath: $0) }) {
            throw ValidationError("\(missing) doesn't exist")
        }
    }

    func run() async throws {
        let (files, problems) = await SourceFile.read(paths, excluding: exclude)
        for problem in problems { Self.warn("prefs-adopt: \(problem)") }
        let isIncomplete = problems.contains { $0.contains("is left out") }
        let declarations = Declarations(files)
        let findings = Finding.all(in: declarations)
        let report = Report(findings: findings, fileCount: files.count)
        if check {
            let warnings = Report(findings: findings.compactMap(withoutAllowed), fileCount: files.count).warnings
            try write(warnings.map { $0 + "\n" }.joined())
            if !warnings.isEmpty { throw ExitCode(1) }
        } else if let group {
            let writer = GroupWriter(
                name: group,
                findings: findings,
                isNameTaken: declarations.types["Preference"] != nil
            )
            try write(writer.text + (stubs ? "\n" + writer.stubs : ""))
            Self.warn("prefs-adopt: \(report.summary)")
        } else {
            try write(json ? report.json() : report.text)
        }
        if isIncomplete { throw ExitCode(5) }
    }

    /// Returns the finding with the uses that `--allow` doesn't match, or `nil` if no use is left.
    private func withoutAllowed(_ finding: Finding) -> Finding? {
        guard !allow.contains(where: { Glob.matches($0, finding.name) }) else { return nil }
        return finding.filtered { use in !allow.contains { Glob.matches($0, path: use.place.path) } }
    }

    private func write(_ text: String) throws {
        guard let output else { return print(text, terminator: "") }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: output), options: .withoutOverwriting)
        } catch {
            Self.warn(
                "prefs-adopt: \(output) can't be written, and nothing was changed: \(error); name a file that doesn't exist"
            )
            throw ExitCode(5)
        }
    }

    private static func warn(_ message: String) {
        var bytes = Array((message + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { writeBytes(2, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let code as ExitCode {
            terminate(code.rawValue)
        } catch {
            guard exitCode(for: error) != .success else { exit(withError: error) }
            warn(fullMessage(for: error))
            terminate(2)
        }
    }
}

// In the command, `exit` and `write` would be its methods.
private func terminate(_ status: Int32) -> Never { exit(status) }
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(file, bytes, count) }

extension String {
    fileprivate var isTypeName: Bool {
        guard let first, first.isLetter || first == "_" else { return false }
        return allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && self == escapedName
    }
}
