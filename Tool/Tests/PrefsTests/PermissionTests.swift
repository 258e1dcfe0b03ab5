import Foundation
import Testing

/// Operations without permission; a superuser runs the tool as the user 65534.
struct PermissionTests {
    private static let isSuperuser = geteuid() == 0

    private func run(_ tool: Tool, _ line: String) throws -> Tool.Run {
        guard Self.isSuperuser else { return try tool.run(line) }
        let words = ["--reuid", "65534", "--regid", "65534", "--clear-groups", tool.program]
        return try tool.run("/usr/bin/setpriv", words + line.split(separator: " ").map(String.init))
    }

    static var canRun: Bool {
        let can = !isSuperuser || access("/usr/bin/setpriv", X_OK) == 0
        if !can { print("SKIPPED: tests of permissions need a user, or setpriv (util-linux) to become one") }
        return can
    }

    @Test(
        .enabled(if: canRun),
        arguments: [
            ("read app", 0o000, "can't read ~/config/app/preferences.jsonl: Permission denied"),
            ("read app volume", 0o000, "can't read ~/config/app/preferences.jsonl: Permission denied"),
            ("check app", 0o000, "can't read ~/config/app/preferences.jsonl: Permission denied"),
            ("write app volume 6", 0o444, "the preferences file can't be written; nothing was changed"),
            ("delete app volume", 0o444, "the preferences file can't be written; nothing was changed"),
            ("compact app", 0o444, "the file can't be written; check who owns ~/config/app/preferences.jsonl"),
            ("check app", 0o444, "the file can't be written; check who owns ~/config/app/preferences.jsonl"),
            ("export app config/app/out", 0o444, "can't write config/app/out: Permission denied"),
        ]
    )
    func missingPermissionEndsWith4(_ line: String, _ mode: Int, _ message: String) throws {
        let tool = try Tool()
        let file = "config/app/preferences.jsonl"
        try tool.write("{\"volume\":5}\n", to: file)
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(tool.folder)/\(file)")
        try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: "\(tool.folder)/config/app")
        defer { chmod("\(tool.folder)/config/app", 0o755) }
        let run = try run(tool, line)
        #expect(run.status == 4, "\(run)")
        #expect(run.error.contains(message), "\(run)")
        chmod("\(tool.folder)/\(file)", 0o644)
        #expect(try tool.read(file) == "{\"volume\":5}\n")
    }

    /// For example, root runs with another user's `HOME`, or another user created the file in `/tmp`.
    @Test(
        .enabled(if: isSuperuser, "SKIPPED: only a superuser can give files away"),
        arguments: ["config/app/preferences.jsonl", "config/app"]
    )
    func fileOfAnotherUserIsNotUsed(_ part: String) throws {
        let tool = try Tool()
        try tool.write("{\"volume\":5}\n", to: "config/app/preferences.jsonl")
        try tool.shell("ln -s app config/link")
        chmod("\(tool.folder)/config/app/preferences.jsonl", 0o666)
        lchown("\(tool.folder)/\(part)", 12345, 12345)
        for line in ["write link volume 6", "read link", "compact link"] {
            let run = try tool.run(line)
            #expect(run.status == 4 && run.error.contains("belongs to the user 12345"), "\(line): \(run)")
        }
        #expect(try tool.read("config/app/preferences.jsonl") == "{\"volume\":5}\n")
        let report = try tool.run("check link")
        #expect(report.status == 4 && report.output.contains(", owner 12345"), "\(report)")
        for (command, words) in [
            ("write", "link volume 6"), ("read", "link"), ("compact", "link"), ("check", "link"), ("read", ""),
            ("find", "6"), ("diff", "link link"),
        ] {
            let run = try tool.run("\(command) --trust-owner \(words)")
            #expect(run.status == 0 && !run.error.contains("belongs to the user"), "\(command) \(words): \(run)")
        }
        #expect(try tool.run("read link volume --trust-owner").output == "6\n")
    }

    /// The caller must not choose where a program with another user's rights writes.
    @Test(.enabled(if: isSuperuser && canRun, "SKIPPED: only a superuser can make a program setuid"))
    func setuidProgramIgnoresFoldersOfItsCaller() throws {
        let tool = try Tool()
        let program = tool.folder + "/setuid"
        // In another process: a child that this process starts at that moment would hold the file open for writing (ETXTBSY, execve(2)).
        try tool.shell("cp '\(tool.program)' setuid")
        chown(program, 65534, 65534)
        chmod(program, 0o4755)
        chmod(tool.folder, 0o755)
        func path(_ program: String) throws -> String {
            let words = ["--reuid", "12345", "--regid", "12345", "--clear-groups", program, "path", "app"]
            return try tool.run("/usr/bin/setpriv", words).output
        }
        #expect(try path(tool.program) == "~/config/app/preferences.jsonl\n")
        #expect(try path(program).hasSuffix("/.config/app/preferences.jsonl\n"))
    }

    @Test(.enabled(if: canRun))
    func describeSaysWhyAValueCanNotBeChanged() throws {
        let tool = try Tool()
        try tool.write("{\"volume\":5}\n", to: "config/app/preferences.jsonl")
        chmod("\(tool.folder)/config/app/preferences.jsonl", 0o444)
        let run = try run(tool, "describe app volume")
        let reason = "~/config/app/preferences.jsonl: Permission denied"
        #expect(
            run.output == "value\t5\nsource\tuser\nwritable\tno: \(reason)\ntype\tinteger\n" && run.status == 0,
            "\(run)"
        )
    }

    @Test(.enabled(if: isSuperuser, "SKIPPED: only a superuser can manage values"))
    func managedValueCanNotBeChanged() throws {
        let tool = try Tool()
        let suite = "prefs-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: "/etc/\(suite)", withIntermediateDirectories: false)
        defer { unlink("/etc/\(suite)/managed.jsonl"); rmdir("/etc/\(suite)") }
        try Data("{\"volume\":3}\n".utf8).write(to: URL(filePath: "/etc/\(suite)/managed.jsonl"))
        #expect(try tool.run("read \(suite) volume").output == "3\n")
        let run = try tool.run("write \(suite) volume 5")
        #expect(run.status == 4 && run.error.contains("managed by an administrator"), "\(run)")
        #expect(try tool.files().keys.sorted() == ["config"])
        #expect(
            try tool.run("describe \(suite) volume").output
                == "value\t3\nsource\tmanaged\nwritable\tno: an administrator manages it\ntype\tinteger\n"
        )
        // As the program reads it under the former name.
        try tool.write(
            #"{"properties":{"loudness":{"x-formerly":["volume"]},"theme":{}}}"#,
            to: "system/\(suite)/preferences.schema.json"
        )
        for line in ["write \(suite) loudness 5", "delete \(suite) loudness"] {
            #expect(try tool.run(line).status != 0)
        }
        #expect(try tool.run("write \(suite) loudness 5").error.contains("managed by an administrator"))
        #expect(try tool.run("describe \(suite) loudness").output.contains("no: an administrator manages it"))
        try tool.shell("rm system/\(suite)/preferences.schema.json; rmdir system/\(suite) system")
        #expect(try tool.run("write \(suite) theme 1").status == 0)
        #expect(try tool.run("read \(suite)").output == "theme\t1\nvolume\t3\n")
    }
}
