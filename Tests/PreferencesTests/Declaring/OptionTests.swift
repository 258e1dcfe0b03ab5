import Foundation
import TestSupport
import Testing

@testable import Preferences

/// The options of a declaration, apart from rules and former names.
struct OptionTests {
    private let store = PreferenceStore.inMemory()
    private let issues = Recorder<PreferenceError>()

    init() { store.issueHandler = { [issues] in issues.record($0) } }

    @Test
    func optionsAreListed() {
        let declared = Preference(
            "volume",
            default: 5,
            .title("Volume"),
            .section("Sound"),
            .description("How loud"),
            .short("v"),
            .deprecated("set loudness"),
            .formerly("vol", "v"),
            in: store
        )
        let volume = AnyPreference(declared)
        #expect(volume.title == "Volume" && volume.section == "Sound" && volume.declaredDescription == "How loud")
        #expect(volume.shortName == "v" && volume.deprecation == "set loudness" && volume.formerNames == ["vol", "v"])
        #expect(!volume.isRequired && !volume.isSecret && volume.rules.isEmpty)
        let number = Preference("plain", default: 5, in: store)
        let plain = AnyPreference(number)
        #expect(plain.title == nil && plain.section == nil && plain.shortName == nil && plain.formerNames.isEmpty)
    }

    @Test
    func lastOfTwoOptionsCountsAndIsReportedOnce() {
        let volume = Preference("volume", default: 5, .title("A"), .secret, .title("B"), .secret, in: store)
        _ = Preference("volume", default: 5, .title("A"), .title("B"), in: store)
        #expect(issues.elements.isEmpty, "declaring calls no handler")
        for _ in 0..<3 { same(volume.value, 5) }
        same(AnyPreference(volume).title, "B")
        same(issues.elements.map(\.code), [.misuse, .misuse])
        #expect(issues.elements.allSatisfy { $0.name == "volume" && $0.message.contains("given twice") })
    }

    @Test
    func rulesCombineAndTheMessageNamesTheOneThatFailed() throws {
        let even = Preference(
            "even",
            default: 4,
            .range(0...10),
            .check("must be even") { $0.isMultiple(of: 2) },
            .range(2...),
            in: store
        )
        func reason(_ value: Int) -> String? {
            do throws(PreferenceError) {
                try even.write(value)
                return nil
            } catch { return error.message }
        }
        same(reason(6), nil)
        same(reason(12), "12 is outside 0...10; nothing was changed")
        same(reason(3), "3 is rejected by the rule \"must be even\"; nothing was changed")
        same(reason(0), "0 is outside 2...; nothing was changed")
        same(AnyPreference(even).rules.map(\.description), ["0...10", "must be even", "2..."])
        store["even"] = 0
        same(even.value, 4)
        same(issues.elements.map(\.code), [.invalid])
    }

    @Test
    func requiredRejectsNil() throws {
        let port = Preference<Int?>("port", .required, in: store)
        #expect(port.value == nil && AnyPreference(port).isRequired)
        try port.write(8080)
        let error = #expect(throws: PreferenceError.self) { try port.write(nil) }
        #expect(error?.code == .invalid && error?.name == "port")
        #expect(throws: PreferenceError.self) { try port.update { $0 = nil } }
        #expect(throws: PreferenceError.self) { try store.transaction { $0[port] = nil } }
        port.value = nil
        #expect(port.value == 8080 && issues.elements.map(\.code) == [.invalid])
        port.reset()
        same(port.value, nil)
    }

    @Test
    func requiredRejectsNilThatIsStoredAsAValue() throws {
        let coding = PreferenceCoding<Int?>("none") {
            .string($0.map(String.init) ?? "none")
        } decode: { stored in
            .some(stored == "none" ? nil : 8080)
        }
        let port = Preference("port", coding: coding, .required, in: store)
        #expect(AnyPreference(port).isRequired && port.value == nil && issues.elements.isEmpty)
        #expect(throws: PreferenceError.self) { try port.write(nil) }
        try port.write(8080)
        #expect(throws: PreferenceError.self) { try AnyPreference(port).write("none") }
        same(store["port"], "8080")
    }

    @Test
    func requiredRejectsAStoredFormOfNil() throws {
        struct Frame: Codable { var x = 0 }
        let port = Preference<Int?>("port", .required, in: store)
        let frame = Preference<Frame?>("frame", coding: .json, .required, in: store)
        try port.write(8080)
        try frame.write(Frame())
        let before = store.contents
        for stored in ["null", .data(Data("null".utf8))] as [PropertyListValue] {
            for preference in [AnyPreference(port), AnyPreference(frame)] {
                let error = #expect(throws: PreferenceError.self) { try preference.write(stored) }
                #expect(error?.code == .invalid || error?.code == .unreadable, "\(preference.name)")
            }
        }
        same(store.contents, before)
        for preference in [AnyPreference(port), AnyPreference(frame)] { try preference.write(nil) }
        #expect(store.contents.isEmpty)
    }

    @Test
    func requiredWithADefaultIsReportedAndIgnored() throws {
        let port = Preference<Int?>("port", default: 8080, .required, in: store)
        try port.write(nil)
        #expect(issues.elements.map(\.code) == [.misuse] && !AnyPreference(port).isRequired)
    }

    @Test(arguments: StoreKind.allCases)
    func deprecatedIsReportedOnceIfALayerHasIt(kind: StoreKind) throws {
        try kind.withStore { store in
            let issues = store.recordIssues()
            let volume = Preference("volume", default: 5, .deprecated("set loudness"), in: store)
            #expect(volume.value == 5 && issues.elements.isEmpty)
            volume.value = 6
            for _ in 0..<3 {
                same(volume.value, 6)
                store.core.dropCachedValues()
            }
            same(issues.elements.map(\.code), [.deprecated])
            #expect(issues.elements.first?.message.contains("set loudness") ?? false)
        }
    }

    @Test(arguments: zip([PreferenceOption<Int>.deprecated("set gain"), .formerly("vol")], ["--volume", "--vol"]))
    func oldUseIsReportedByEachWayToRead(option: PreferenceOption<Int>, argument: String) async throws {
        let uses: [(name: String, use: (Preference<Int>) async throws -> Void)] = [
            ("value", { _ = $0.value }),
            ("read", { _ = try $0.read() }),
            ("update", { try await $0.update { $0 += 1 } }),
            ("transaction", { volume in try await volume.store.transaction { $0[volume] += 1 } }),
            ("observe", { _ = $0.observe(includingCurrent: true) { _ in } }),
            (
                "updates",
                { volume in
                    var updates = volume.updates.makeAsyncIterator()
                    _ = await updates.next()
                }
            ),
            // A declaration without the option has filled its slot.
            (
                "value after another declaration's",
                { volume in
                    let plain = Preference("volume", default: 5, in: volume.store)
                    _ = (plain.value, volume.value)
                }
            ),
        ]
        for (name, use) in uses {
            let store = PreferenceStore.layered([.inMemory(), .arguments([argument, "3"])])
            let issues = store.recordIssues()
            for _ in 0..<2 { try await use(Preference("volume", default: 5, option, in: store)) }
            same(issues.elements.map(\.code), [.deprecated], "\(name)")
        }
    }

    @Test
    func scopesReportOnceForEachName() {
        store["a.volume"] = 3
        store["b.volume"] = 3
        let scopes = ["a.", "b."].map { store.scoped(prefix: $0) }
        for _ in 0..<3 {
            for scope in scopes {
                let volume = Preference(
                    "volume",
                    default: 5,
                    .title("A"),
                    .title("B"),
                    .deprecated("set gain"),
                    in: scope
                )
                same(volume.value, 3)
            }
        }
        same(issues.elements.map(\.name), ["a.volume", "a.volume", "b.volume", "b.volume"])
        same(issues.elements.map(\.code), [.misuse, .deprecated, .misuse, .deprecated])
    }

    // MARK: Names of a group

    private struct Twice: PreferenceGroup {
        struct Sound: PreferenceGroup { @Preference("volume") var loudness = 0.5 }
        @Preference("volume") var volume = 5
        let other = Preference("other", default: 1)
        let sound = Sound()
        @Preference("elsewhere", in: .inMemory()) var elsewhere = 1
        let elsewhereToo = Preference("elsewhere", default: 1, in: .inMemory())
    }

    @Test
    func nameOfTwoPropertiesIsReportedOnce() {
        for _ in 0..<3 { _ = Twice(in: store).preferences }
        #expect(issues.elements.map(\.code) == [.misuse] && issues.elements.map(\.name) == ["volume"])
        let message = issues.elements.first?.message ?? ""
        #expect(message.contains("\"volume\" and \"sound.loudness\" of Twice"))
    }

    @Test
    func onePreferenceInTwoPropertiesIsNotReported() {
        struct Shared: PreferenceGroup {
            @Preference("volume") var volume = 5
            let same: Preference<Int>
            init() { same = _volume }
        }
        _ = Shared(in: store).preferences
        #expect(issues.elements.isEmpty)
    }
}
