import Foundation
import Testing

/// The built program with a folder of sources.
struct CommandTests: ~Copyable {
    private final class InTheBundle {}
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

    init() throws {
        try write("Sources/App.swift", #"let a = UserDefaults.standard.bool(forKey: "a")"#)
        try write("Sources/Old/View.swift", #"struct V { @AppStorage("b") var b = 1 }"#)
        try write("Pods/Other.swift", #"let a = UserDefaults.standard.bool(forKey: "pod")"#)
        try write(".hidden/Other.swift", #"let a = UserDefaults.standard.bool(forKey: "hidden")"#)
        try write("Sources/readme.txt", #"UserDefaults.standard.bool(forKey: "text")"#)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ path: String, _ text: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    private func adopt(_ arguments: String...) throws -> (status: Int32, text: String, errors: String) {
        try run(program, arguments, in: folder)
    }

    @Test func listShowsKeysAndUses() throws {
        let result = try adopt()
        #expect(result.status == 0)
        #expect(
            result.text == """
                "a": Bool = false
                    read     Sources/App.swift:1:9

                "b": Int = 1
                    declare  Sources/Old/View.swift:1:12

                2 keys in 2 files

                """
        )
    }

    @Test func checkWarnsInTheCompilersFormatAndFails() throws {
        let result = try adopt("--check")
        #expect(result.status == 1)
        #expect(
            result.text == """
                Sources/App.swift:1:9: warning: the key "a" of UserDefaults is used without a preference; declare it in a preference group
                Sources/Old/View.swift:1:12: warning: the key "b" of UserDefaults is used without a preference; declare it in a preference group

                """
        )
    }

    @Test(arguments: [
        ["--allow", "a", "--allow", "Old"], ["--allow", "*"], ["--allow", "Sources/*"], ["--exclude", "Sources"],
    ])
    func checkIgnoresAllowedUses(arguments: [String]) throws {
        let result = try run(program, ["--check"] + arguments, in: folder)
        #expect(result.status == 0)
        #expect(result.text == "")
    }

    private var program: String {
        let bundle = Bundle(for: InTheBundle.self).bundleURL
        let products = bundle.pathExtension == "xctest" ? bundle.deletingLastPathComponent() : bundle
        return products.appending(path: "prefs-adopt").path
    }

    @Test func jsonHasEachKey() throws {
        let result = try adopt("--json", "Sources")
        let keys = try #require(try JSONSerialization.jsonObject(with: Data(result.text.utf8)) as? [[String: Any]])
        #expect(keys.map { $0["key"] as? String } == ["a", "b"])
        #expect(keys.map { $0["type"] as? String } == ["Bool", "Int"])
        #expect(keys.map { $0["default"] as? String } == ["false", "1"])
    }

    @Test func groupIsWrittenOnceAndNeverOverAFile() throws {
        #expect(try adopt("--group", "P", "--output", "P.swift").status == 0)
        let text = try String(contentsOf: folder.appending(path: "P.swift"), encoding: .utf8)
        #expect(text.contains(#"@Preference("b") var b = 1"#))
        let second = try adopt("--group", "Q", "--output", "P.swift")
        #expect(second.status == 5)
        #expect(second.errors.contains("P.swift can't be written, and nothing was changed"))
        #expect(try String(contentsOf: folder.appending(path: "P.swift"), encoding: .utf8) == text)
    }

    @Test func typePreferenceOfTheProjectIsDistinguishedFromTheLibrarys() throws {
        try write("Sources/Own.swift", "struct Preference {}")
        #expect(try adopt("--group", "P").text.contains(#"@Preferences.Preference("b") var b = 1"#))
    }

    @Test(arguments: [
        ["missing"], ["--json", "--check"], ["--allow", "a"], ["--group", "a b"], ["--group", "class"], ["--nonsense"],
    ])
    func wrongUsageIsTwo(arguments: [String]) throws {
        let result = try run(program, arguments, in: folder)
        #expect(result.status == 2)
        #expect(result.text == "")
        #expect(!result.errors.isEmpty)
    }

    @Test func brokenSourcesAreReportedAndTheRestIsSearched() throws {
        try write("Sources/Broken.swift", "let x = (((")
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: "Sources/Gone.swift").path,
            withDestinationPath: "/nonexistent/file"
        )
        let result = try adopt()
        #expect(result.status == 5)
        #expect(result.errors.contains("Sources/Broken.swift: has syntax errors"))
        #expect(result.errors.contains("Sources/Gone.swift: "))
        #expect(result.text.contains("2 keys in 3 files"))
    }
}
