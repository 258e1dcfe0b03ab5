import Preferences
import Testing

struct ValidationTests {
    private struct TooLoud: Error, CustomStringConvertible { let description = "think of the neighbours" }

    private let store = PreferenceStore.inMemory()

    @Test
    func valueOutsideTheRangeIsRefusedAndNotClamped() {
        let volume = Preference("volume", .range(0...10), default: 5, in: store)
        let error = #expect(throws: PreferencesError.self) { try volume.write(11) }
        #expect(error?.code == .invalid)
        #expect(error?.description == "preference \"volume\": 11 is outside 0...10; nothing was changed")
        #expect(store.contents.isEmpty)
    }

    @Test
    func defaultIsNotChecked() {
        let volume = Preference("volume", .range(0...10), default: -1, in: store)
        #expect(volume.value == -1)
    }

    @Test
    func nilIsInEveryRange() throws {
        let volume = Preference<Int?>("volume", .range(0...10), in: store)
        try volume.write(3)
        try volume.write(nil)
        #expect(throws: PreferencesError.self) { try volume.write(-3) }
        #expect(store.contents.isEmpty)
    }

    @Test
    func reasonOfTheValidationIsTold() {
        let volume = Preference(
            "volume",
            .check {
                if $0 > 3 { throw TooLoud() }
                return true
            },
            default: 5,
            in: store
        )
        let error = #expect(throws: PreferencesError.self) { try volume.write(4) }
        #expect(error?.description.contains("think of the neighbours") == true)
    }

    @Test
    func setThatIsRefusedIsReportedAndNotPublished() {
        let volume = Preference("volume", .check { $0.isMultiple(of: 5) }, default: 5, in: store)
        let issues = Recorder<PreferencesError>()
        let seen = Recorder<Int>()
        store.issueHandler = { issues.record($0) }
        let observation = volume.observe { seen.record($0.new) }
        volume.value = 7
        #expect(issues.elements.map(\.code) == [.invalid])
        #expect(seen.elements.isEmpty)
        withExtendedLifetime(observation) {}
    }

    @Test
    func storedValueThatFailsIsAnIssueAndTheDefault() throws {
        store.set(99, for: "volume")
        let volume = Preference("volume", .range(0...10), default: 5, in: store)
        let issues = Recorder<PreferencesError>()
        store.issueHandler = { issues.record($0) }
        for _ in 0..<3 { #expect(volume.value == 5) }
        #expect(issues.elements.map(\.code) == [.invalid])
        #expect(volume.source == .default)
        #expect(volume.storedValue == 99)
        let error = #expect(throws: PreferencesError.self) { try volume.update { $0 += 1 } }
        #expect(error?.code == .invalid)
        let lenient = Preference("volume", default: 5, in: store)
        #expect(lenient.value == 99, "another declaration has its own rule")
    }
}
