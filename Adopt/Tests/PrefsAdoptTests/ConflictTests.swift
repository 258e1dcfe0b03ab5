import Testing

@testable import prefs_adopt

struct ConflictTests {
    @Test func differingDefaultsAreReportedWithEveryPlace() {
        let found = findings([
            "A.swift": #"let a = UserDefaults.standard.object(forKey: "volume") as? Int ?? 5"#,
            "B.swift": #"struct B { @AppStorage("volume") var volume = 7 }"#,
            "C.swift": #"func f() { UserDefaults.standard.register(defaults: ["volume": 3]) }"#,
        ])
        #expect(found.count == 1)
        #expect(found[0].conflicts.map(\.subject) == ["defaults"])
        #expect(found[0].conflicts[0].values.map(\.text) == ["5", "7", "3"])
        #expect(
            found[0].conflicts[0].values.map { $0.places.map(\.description) } == [
                ["A.swift:1:9"], ["B.swift:1:12"], ["C.swift:1:54"],
            ]
        )
    }

    @Test(arguments: [
        ([#"let a = d.integer(forKey: "a")"#, #"@AppStorage("a") var x = 7"#], true),
        ([#"let a = d.integer(forKey: "a")"#, #"@AppStorage("a") var x = 0"#], false),
        ([#"let a = d.integer(forKey: "a")"#, #"func f() { d.register(defaults: ["a": 7]) }"#], false),
        ([#"let a = d.object(forKey: "a") as? Double ?? 5.0"#, #"@AppStorage("a") var x: Double = 5"#], false),
        ([#"enum T: String { case b, c }; @AppStorage("a") var x = T.b"#, #"@AppStorage("a") var y: T = .b"#], false),
        ([#"enum T: String { case b, c }; @AppStorage("a") var x = T.b"#, #"@AppStorage("a") var y: T = .c"#], true),
        ([#"enum T: String { case b, c }; @AppStorage("a") var x = T.b"#, #"@AppStorage("a") var y = "b""#], false),
        ([#"let k = 5; @AppStorage("a") var x = k"#, #"@AppStorage("a") var y = 5"#], false),
    ])
    func defaultsConflictIfAProgramSeesDifferentValues(sources: [String], conflicts: Bool) {
        var files = ["D.swift": "let d = UserDefaults.standard"]
        for (index, source) in sources.enumerated() { files["\(index).swift"] = source }
        #expect(findings(files).map { $0.conflicts.map(\.subject) } == [conflicts ? ["defaults"] : []])
    }

    @Test(arguments: [
        ([#"let a = d.bool(forKey: "a")"#, #"@AppStorage("a") var x: String?"#], true),
        ([#"let a = d.string(forKey: "a")"#, #"func f(i: Int) { d.set(i, forKey: "a") }"#], true),
        ([#"let a = d.double(forKey: "a")"#, #"func f() { d.set(1, forKey: "a") }"#], false),
        ([#"let a = d.integer(forKey: "a")"#, #"enum T: Int { case b }; @AppStorage("a") var x = T.b"#], false),
        ([#"let a = d.array(forKey: "a")"#, #"@AppStorage("a") var x: [String] = []"#], false),
    ])
    func typesConflictIfTheirStoredFormsDiffer(sources: [String], conflicts: Bool) {
        var files = ["D.swift": "let d = UserDefaults.standard"]
        for (index, source) in sources.enumerated() { files["\(index).swift"] = source }
        #expect(findings(files)[0].conflicts.contains { $0.subject == "types" } == conflicts)
    }

    @Test func oneKeyInTwoSuitesIsTwoKeys() {
        let found = findings([
            "A.swift":
                #"UserDefaults.standard.set(1, forKey: "a"); UserDefaults(suiteName: "s")!.set(true, forKey: "a")"#
        ])
        #expect(found.map(\.line) == [#""a": Int [write]"#, #"s/"a": Bool [write]"#])
        #expect(found.allSatisfy { $0.conflicts.isEmpty })
    }
}
