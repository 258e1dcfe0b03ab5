import Testing

@testable import prefs_adopt

/// Each form of a use, as source text, and its finding.
struct FormTests {
    @Test(arguments: [
        (#"let a = UserDefaults.standard.bool(forKey: "a")"#, #""a": Bool = false"#),
        (#"let a = UserDefaults.standard.integer(forKey: "a")"#, #""a": Int = 0"#),
        (#"let a = UserDefaults.standard.double(forKey: "a")"#, #""a": Double = 0"#),
        (#"let a = UserDefaults.standard.float(forKey: "a")"#, #""a": Float = 0"#),
        (#"let a = UserDefaults.standard.string(forKey: "a")"#, #""a": String"#),
        (#"let a = UserDefaults.standard.data(forKey: "a")"#, #""a": Data"#),
        (#"let a = UserDefaults.standard.url(forKey: "a")"#, #""a": URL"#),
        (#"let a = UserDefaults.standard.stringArray(forKey: "a") ?? []"#, #""a": [String] = []"#),
        (#"let a = UserDefaults.standard.array(forKey: "a") as? [Int]"#, #""a": [Int]"#),
        (#"let a = UserDefaults.standard.dictionary(forKey: "a") as? [String: Bool]"#, #""a": [String: Bool]"#),
        (#"let a = UserDefaults.standard.object(forKey: "a") as? Date ?? .distantPast"#, #""a": Date = .distantPast"#),
        (#"let a = (UserDefaults.standard.value(forKey: "a") as! UInt)"#, #""a": UInt"#),
        (#"if UserDefaults.standard.object(forKey: "a") is Date {}"#, #""a": Date"#),
        (#"var a: Date? { UserDefaults.standard.object(forKey: "a") }"#, #""a": Date"#),
    ])
    func readsHaveTypeAndDefault(source: String, found: String) {
        #expect(summary(source) == ["\(found) [read]"])
    }

    @Test(arguments: [
        (#"UserDefaults.standard.set(true, forKey: "a")"#, #""a": Bool [write]"#),
        (#"UserDefaults.standard.setValue(1.5, forKey: "a")"#, #""a": Double [write]"#),
        (#"UserDefaults.standard.set(Date(), forKey: "a")"#, #""a": Date [write]"#),
        (#"UserDefaults.standard.set(nil, forKey: "a")"#, #""a" [remove]"#),
        (#"UserDefaults.standard.removeObject(forKey: "a")"#, #""a" [remove]"#),
        (#"UserDefaults.standard.register(defaults: ["a": 3])"#, #""a": Int = 3 [register]"#),
        (#"let d: [String: Any] = ["a": 3]; UserDefaults.standard.register(defaults: d)"#, #""a": Int = 3 [register]"#),
        (
            #"func f() { var d: [String: Any] = [:]; d["a"] = 3; UserDefaults.standard.register(defaults: d) }"#,
            #""a": Int = 3 [register]"#
        ),
        (
            #"""
            struct K { let rawValue: String; init(_ s: String) { rawValue = s }; static let a = K("a") }
            typealias PK = K
            let initial: [K: Any] = [.a: 3]
            UserDefaults.standard.register(defaults: [String: Any](uniqueKeysWithValues: initial.map { ($0.0.rawValue, $0.1) }))
            UserDefaults.standard.set(4, forKey: PK.a.rawValue)
            """#, #""a": Int = 3 [register, write]"#
        ),
        (#"UserDefaults.standard.register(defaults: load())"#, "(load()) [register]"),
        (#"UserDefaults.standard.addObserver(o, forKeyPath: "a", options: [], context: nil)"#, #""a" [observe]"#),
        (
            #"""
            extension UserDefaults { @objc dynamic var a: Int { 0 } }
            let c = UserDefaults.standard.publisher(for: \.a)
            """#, #""a": Int [observe]"#
        ),
        (
            #"UserDefaults.standard.addObserver(o, forKeyPath: #keyPath(UserDefaults.a), context: nil)"#,
            #""a" [observe]"#
        ),
        (#"let c = UserDefaults.standard.observe(\.a, options: []) { _, _ in }"#, #""a" [observe]"#),
    ])
    func writesRegistrationsAndObserversAreFound(source: String, found: String) {
        #expect(summary(source) == [found])
    }

    @Test(arguments: [
        (#"@AppStorage("a") var x = 5"#, #""a": Int = 5 [declare]"#),
        (#"@AppStorage("a") private var x: String?"#, #""a": String [declare]"#),
        (#"@AppStorage("a") var x: Theme = .dark"#, #""a": Theme = .dark [declare]"#),
        (#"@AppStorage(wrappedValue: 5, "a") var x: Int"#, #""a": Int = 5 [declare]"#),
        (#"func f() { _x = AppStorage(wrappedValue: 5, "a") }"#, #""a": Int = 5 [declare]"#),
        (#"@AppStorage("a", store: UserDefaults(suiteName: "s")) var x = 5"#, #"s/"a": Int = 5 [declare]"#),
        (#"@AppStorage("a", store: .shared) var x = 5"#, #".shared/"a": Int = 5 [declare]"#),
        (#"@UserDefault("a", defaultValue: 5) var x: Int"#, #""a": Int = 5 [declare]"#),
        (#"@UserDefault(key: "a") var x = 5"#, #""a": Int = 5 [declare]"#),
        (#"extension Defaults.Keys { static let x = Key<Bool>("a", default: true) }"#, #""a": Bool = true [declare]"#),
        (
            #"extension DefaultsKeys { var x: DefaultsKey<Bool> { .init("b") } }; let y = DefaultsKey<Int>("a", defaultValue: 5)"#,
            #""a": Int = 5 [declare]"#
        ),
        (#"let x = Defaults.Key<Int?>("a")"#, #""a": Int [declare]"#),
    ])
    func wrappersAreFound(source: String, found: String) { #expect(summary(source) == [found]) }

    @Test(arguments: [
        #"@SceneStorage("a") var x = 5"#,
        #"let x = coder.decodeInteger(forKey: "a")"#,
        #"let x = keychain.string(forKey: "a")"#,
        #"dictionary.removeValue(forKey: "a")"#,
        #"let x = try container.decode(Int.self, forKey: .a)"#,
        #"object.setValue(1, forKey: "a")"#,
    ])
    func unrelatedCallsAreLeftOut(source: String) { #expect(summary(source) == []) }

    @Test(arguments: [
        "let d = UserDefaults.standard; func f() { d.removeObject(forKey: \"a\") }",
        "func f() { let d = UserDefaults.standard; d.removeObject(forKey: \"a\") }",
        "class C { let d = UserDefaults.standard; func f() { self.d.removeObject(forKey: \"a\") } }",
        "class C { private let d: UserDefaults = .standard; func f() { d.removeObject(forKey: \"a\") } }",
        "class C { let d: UserDefaults; init(d: UserDefaults = .standard) { self.d = d }; func f() { d.removeObject(forKey: \"a\") } }",
        "class C { var d: UserDefaults { UserDefaults.standard }; func f() { d.removeObject(forKey: \"a\") } }",
        "enum E { static var d: UserDefaults? = .standard }; func f() { E.d?.removeObject(forKey: \"a\") }",
        "func f(_ d: UserDefaults = .standard) { d.removeObject(forKey: \"a\") }",
        "UserDefaults().removeObject(forKey: \"a\")",
        "UserDefaults(suiteName: nil)!.removeObject(forKey: \"a\")",
        "extension UserDefaults { func f() { removeObject(forKey: \"a\"); } }",
        "extension UserDefaults { func f() { self.removeObject(forKey: \"a\"); } }",
    ])
    func objectsOfUserDefaultsAreRecognised(source: String) { #expect(summary(source) == [#""a" [remove]"#]) }

    @Test(arguments: [
        ("UserDefaults(suiteName: \"s\")?.removeObject(forKey: \"a\")", "s"),
        (
            "func f() { guard let d = UserDefaults(suiteName: \"s\") else { return }; d.removeObject(forKey: \"a\") }",
            "s"
        ),
        ("func f() { if let d = UserDefaults(suiteName: \"s\") { d.removeObject(forKey: \"a\") } }", "s"),
        ("let n = \"s\"; let d = UserDefaults(suiteName: n)!; func f() { d.removeObject(forKey: \"a\") }", "s"),
        (
            "let d = { let n = \"s\"; return UserDefaults(suiteName: n)! }(); func f() { d.removeObject(forKey: \"a\") }",
            "s"
        ),
        ("let d = UserDefaults(suiteName: \"s\") ?? .standard; func f() { d.removeObject(forKey: \"a\") }", "s"),
        (
            "extension UserDefaults { static let g = UserDefaults(suiteName: \"s\")! }; func f() { UserDefaults.g.removeObject(forKey: \"a\") }",
            "s"
        ),
        ("func f(d: UserDefaults) { d.removeObject(forKey: \"a\") }", "d"),
    ])
    func suitesAreKept(source: String, suite: String) { #expect(summary(source) == [#"\#(suite)/"a" [remove]"#]) }

    @Test(arguments: [
        (#"let k = "a""#, "k"),
        (#"enum K { static let k = "a" }"#, "K.k"),
        (#"enum K { enum L { static let k = "a" } }"#, "K.L.k"),
        (#"enum K: String { case a }"#, "K.a.rawValue"),
        (#"enum K: String { case b = "a" }"#, "K.b.rawValue"),
        (#"struct K { let rawValue: String; static let k = K(rawValue: "a") }"#, "K.k.rawValue"),
        (#"let p = "a"; let q = "b""#, "p + \".\" + q"),
        (#"let p = "a"; let q = "b""#, #""\(p).\(q)""#),
        (#"enum K { static var k: String { "a" } }"#, "K.k"),
        (#"func key(_ name: String) -> String { "x." + name }"#, #"key("a")"#),
    ])
    func constantsOfOtherFilesAreResolved(declaration: String, key: String) {
        let found = findings([
            "Keys.swift": declaration, "Use.swift": "UserDefaults.standard.removeObject(forKey: \(key))",
        ])
        #expect(["a", "a.b", "x.a"].contains(found[0].name))
        #expect(found.map(\.resolution) == [.known])
    }

    @Test func loopsAndChoicesHaveSeveralKeys() {
        #expect(summary(#"for k in ["a", "b"] { UserDefaults.standard.removeObject(forKey: k) }"#).count == 2)
        #expect(
            summary(
                #"enum K: String, CaseIterable { case a, b }; func f() { K.allCases.forEach { UserDefaults.standard.removeObject(forKey: $0.rawValue) } }"#
            ).count == 2
        )
        #expect(summary(#"UserDefaults.standard.removeObject(forKey: isA ? "a" : "b")"#).count == 2)
        #expect(
            summary(#"enum K: String { case a, b; var v: Bool { UserDefaults.standard.bool(forKey: rawValue) } }"#)
                .count == 2
        )
    }

    @Test func computedKeysAreListed() {
        #expect(summary(#"UserDefaults.standard.removeObject(forKey: account.name)"#) == ["(account.name) [remove]"])
        #expect(
            summary(#"func f(id: Int) { UserDefaults.standard.removeObject(forKey: "volume-\(id)") }"#) == [
                #""volume-\(id)" [remove]"#
            ]
        )
        #expect(
            summary(#"func f(key: String) { UserDefaults.standard.removeObject(forKey: key) }"#) == ["(key) [remove]"]
        )
    }

    @Test func computedKeysOfOtherFunctionsAreOtherKeysWithoutTypeAndDefault() {
        let source = """
            func f() { let key = make(); UserDefaults.standard.set(1, forKey: key); UserDefaults.standard.set(2, forKey: key) }
            func g() { for key in list() { print(UserDefaults.standard.bool(forKey: key)) } }
            struct S {
                var key: String
                var on: Bool {
                    get { UserDefaults.standard.bool(forKey: name()) }
                    set { UserDefaults.standard.set(newValue, forKey: name()) }
                }
                func h(key: String) { UserDefaults.standard.removeObject(forKey: key) }
                func i() { UserDefaults.standard.removeObject(forKey: key) }
                func j() { UserDefaults.standard.removeObject(forKey: key) }
            }
            """
        let found = findings(["A.swift": source])
        #expect(
            found.map(\.line) == [
                "(key) [read]", "(key) [remove]", "(key) [remove]", "(make()) [write]", "(name()) [read, write]",
            ]
        )
        #expect(found.map(\.uses.count) == [1, 1, 2, 2, 2])
        #expect(found.allSatisfy { $0.conflicts.isEmpty })
    }
}

extension FormTests {
    @Test(arguments: [
        #"extension UserDefaults { func flag(_ key: String) -> Bool { bool(forKey: key) } }; let x = UserDefaults.standard.flag("a")"#,
        #"enum K: String { case a }; extension UserDefaults { func flag(_ key: K) -> Bool { bool(forKey: key.rawValue) } }; let x = UserDefaults.standard.flag(.a)"#,
        #"enum S { static func flag(for key: String) -> Bool { UserDefaults.standard.bool(forKey: key) } }; let x = S.flag(for: "a")"#,
        #"class B { let key: String; init(key: String) { self.key = key }; var on: Bool { UserDefaults.standard.bool(forKey: key) } }; let x = B(key: "a")"#,
        #"struct B { let key: String; var on: Bool { UserDefaults.standard.bool(forKey: key) } }; let x = B(key: "a")"#,
        #"class B { init(key: String) { _ = UserDefaults.standard.bool(forKey: key) } }; class C: B { override init(key: String) { super.init(key: key) } }; let x = C(key: "a")"#,
        #"enum S { static func g(_ k: String) -> Bool { f(k) }; static func f(_ k: String) -> Bool { UserDefaults.standard.bool(forKey: k) } }; let x = S.g("a")"#,
        #"extension UserDefaults { subscript(flag key: String) -> Bool { get { bool(forKey: key) } } }; let x = UserDefaults.standard[flag: "a"]"#,
    ])
    func keysThatArePassedOnAreFollowed(source: String) {
        let found = findings(["A.swift": source])
        #expect(found.map(\.name) == ["a"])
        #expect(found.first?.type?.name == "Bool")
    }

    @Test func keysOfACustomTypeAreFollowed() {
        let keys = """
            struct Key<Value> { let name: String; let fallback: Value }
            extension Key where Value == Int { static let volume = Key(name: "player.volume", fallback: 5) }
            extension UserDefaults {
                func value<Value>(for key: Key<Value>) -> Value { object(forKey: key.name) as? Value ?? key.fallback }
                func set<Value>(_ value: Value, for key: Key<Value>) { set(value, forKey: key.name) }
            }
            """
        let use = "func f() { UserDefaults.standard.set(UserDefaults.standard.value(for: .volume) + 1, for: .volume) }"
        let found = findings(["Keys.swift": keys, "Use.swift": use])
        #expect(found.map(\.name) == ["player.volume"])
        #expect(found[0].uses.map { "\($0.kind) \($0.place)" } == ["write Use.swift:1:12", "read Use.swift:1:38"])
    }

    @Test func overloadsAreDistinguishedByTheirArguments() {
        let source = """
            enum S {
                static func set(_ value: Int, for key: String) { UserDefaults.standard.set(value, forKey: key) }
                static func set(_ value: Bool, for key: String) { UserDefaults.standard.set(value, forKey: key) }
            }
            func f(on: Bool) { S.set(on, for: "a"); S.set(1, for: "b") }
            """
        #expect(summary(source) == [#""a": Bool [write]"#, #""b": Int [write]"#])
    }

    @Test func ambiguousOverloadsHaveNoType() {
        let source = """
            enum S {
                static func set(_ value: Bool, for key: String) { UserDefaults.standard.set(value, forKey: key) }
                static func set(_ value: Int, for key: String) { UserDefaults.standard.set(value, forKey: key) }
                static func set(_ value: Any?, for key: String) { UserDefaults.standard.set(value, forKey: key) }
                static func value(for key: String) -> Bool { UserDefaults.standard.bool(forKey: key) }
                static func value(for key: String) -> Int { UserDefaults.standard.integer(forKey: key) }
            }
            func f(_ box: Box) {
                S.set(box.content, for: "a")
                S.set(box.content == other, for: "b")
                S.set(!box.content, for: "c")
                S.set("text", for: "d")
                S.set(String(box.content), for: "e")
                let number: Int = S.value(for: "f")
                let flag: Bool = S.value(for: "i")
                print(S.value(for: "g"))
                UserDefaults.standard.set(S.value(for: "g"), forKey: "h")
            }
            """
        #expect(
            summary(source) == [
                #""a" [write]"#, #""b": Bool [write]"#, #""c": Bool [write]"#, #""d": Any [write]"#,
                #""e": Any [write]"#, #""f": Int = 0 [read]"#, #""g" [read]"#, #""h" [write]"#,
                #""i": Bool = false [read]"#,
            ]
        )
    }

    @Test func oneCallOfReadsOfDifferentTypesIsOneReadOfUnknownType() {
        let direct = """
            enum Kind { case int, bool, text }
            func show(_ key: String, as kind: Kind) {
                switch kind {
                case .int: print(UserDefaults.standard.integer(forKey: key))
                case .bool: print(UserDefaults.standard.bool(forKey: key))
                case .text: print(UserDefaults.standard.string(forKey: key) ?? "")
                }
            }
            func f() { show("a", as: .int); show("b", as: .bool) }
            """
        #expect(summary(direct) == [#""a" [read]"#, #""b" [read]"#])
        let throughAccessors = """
            enum S {
                static func flag(_ key: String) -> Bool { UserDefaults.standard.bool(forKey: key) }
                static func number(_ key: String) -> Int { UserDefaults.standard.integer(forKey: key) }
            }
            func show(_ key: String, isFlag: Bool) { if isFlag { print(S.flag(key)) } else { print(S.number(key)) } }
            func f() { show("a", isFlag: false); print(S.number("a")) }
            """
        let found = findings(["A.swift": throughAccessors])
        #expect(found.map(\.line) == [#""a": Int = 0 [read]"#])
        #expect(found[0].uses.map { $0.type?.name } == [nil, "Int"])
        #expect(found[0].conflicts.isEmpty)
    }

    @Test func oneCallOfReadsOfOneTypeHasThatType() {
        let source = """
            func flag(_ key: String) -> Bool? {
                UserDefaults.standard.object(forKey: key) == nil ? nil : UserDefaults.standard.bool(forKey: key)
            }
            let x = flag("a")
            """
        #expect(findings(["A.swift": source]).map { $0.uses.map { $0.type?.name } } == [["Bool"]])
        let initializer = """
            class Setting {
                init(key: String, defaultValue: Double) {
                    if UserDefaults.standard.object(forKey: key) == nil { value = defaultValue }
                    else { value = UserDefaults.standard.double(forKey: key) }
                }
            }
            let x = Setting(key: "a", defaultValue: 0.25)
            """
        #expect(findings(["A.swift": initializer]).map { $0.uses.map { $0.type?.name } } == [["Double"]])
    }

    @Test func customWrappersHaveTypeAndDefaultOfEachProperty() {
        let wrapper = """
            @propertyWrapper struct Stored<T> {
                let key: String
                let fallback: T
                init(wrappedValue: T, _ key: String) { self.key = key; fallback = wrappedValue }
                var wrappedValue: T {
                    get { UserDefaults.standard.object(forKey: key) as? T ?? fallback }
                    set { UserDefaults.standard.set(newValue, forKey: key) }
                }
            }
            """
        let found = findings([
            "W.swift": wrapper, "A.swift": #"struct A { @Stored("a") var x = 5; @Stored("b") var y: String = "z" }"#,
        ])
        #expect(found.map(\.line) == [#""a": Int = 5 [declare, write]"#, #""b": String = "z" [declare, write]"#])
    }

    @Test func decodingWrappersHaveTheDecodedType() {
        let wrapper = """
            class JSON<T: Codable> {
                init(key: String) { text = UserDefaults.standard.string(forKey: key) }
                func load() { value = try? JSONDecoder().decode(T.self, from: Data(text.utf8)) }
            }
            """
        let found = findings(["W.swift": wrapper, "A.swift": #"let x = JSON<Set<String>>(key: "a")"#])
        #expect(found.first?.type?.name == "Set<String>")
        #expect(found.first?.type?.coding == ".jsonString")
    }

    @Test func enumsAndCodableTypesAreTypes() {
        let enumeration = "enum Theme: Int { case light, dark }\n"
        #expect(
            findings([
                "A.swift": enumeration
                    + #"let t = Theme(rawValue: UserDefaults.standard.integer(forKey: "a")) ?? .dark"#
            ])[0].type?.name == "Theme"
        )
        #expect(
            findings([
                "A.swift": enumeration
                    + #"func f() { let raw = UserDefaults.standard.integer(forKey: "a"); g(Theme(rawValue: raw)) }"#
            ])[0].type?.name == "Theme"
        )
        let decoded = findings([
            "A.swift":
                #"func f() { if let d = UserDefaults.standard.data(forKey: "a") { x = try? JSONDecoder().decode(Frame.self, from: d) } }"#
        ])
        #expect(decoded[0].type?.name == "Frame")
        #expect(decoded[0].type?.coding == ".json")
    }
}

/// Returns the findings in sources, which are given by path.
func findings(_ sources: [String: String]) -> [Finding] {
    Finding.all(in: Declarations(sources.keys.sorted().map { SourceFile(path: $0, source: sources[$0] ?? "") }))
}

func summary(_ source: String) -> [String] { findings(["A.swift": source]).map(\.line) }

extension Finding {
    /// The store, key, type, default and kinds of uses as text.
    var line: String {
        let place =
            switch store {
            case .standard, .caller: ""
            case .suite(let name): name + "/"
            case .computed(let text): text + "/"
            }
        let key = resolution == .computed ? "(\(name))" : "\"\(name)\""
        let kinds = uses.map(\.kind.rawValue).unique.sorted().joined(separator: ", ")
        return place + key + (type.map { ": \($0.name)" } ?? "") + (fallback.map { " = \($0.text)" } ?? "")
            + " [\(kinds)]"
    }
}
