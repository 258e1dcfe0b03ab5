import Foundation
import Preferences
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

extension EvolvingWriteTests {
    /// A member that comes between reading what is stored and storing: the encoding of what is stored adds it.
    @Test
    func memberThatComesDuringASetIsKept() {
        let backend = FaultInjectingBackend(["value": ["x": 1, "first": 1]])
        let store = PreferenceStore(backend: backend)
        let calls = Recorder<Int>()
        let coding = PreferenceCoding<Int>("meddling") { value in
            calls.record(value)
            if calls.elements.count == 2 { backend.changeOutside(["value": ["x": 1, "first": 1, "second": 2]]) }
            return ["x": .integer(Int64(value))]
        } decode: {
            try $0[member: "x"].map { try Int(storedValue: $0) }
        }
        Preference("value", default: 0, coding: coding, in: store).value = 7
        same(store["value"], ["x": 7, "first": 1, "second": 2])
        #expect(calls.elements.count > 2)
    }
}
