import SwiftUI
import Testing

/// Tests of the mock of SwiftUI, which must behave as SwiftUI does.
@MainActor
struct HostTests {
    private struct Row: View {
        let name: String
        @State private var text = ""
        var body: some View { TextField(name, text: $text) }
    }

    private struct Rows: View {
        let names: [String]
        var body: some View { ForEach(names, id: \.self) { Row(name: $0) } }
    }

    @Test
    func elementKeepsItsStateWhereverItIs() {
        let host = Host(Rows(names: ["a", "b"]))
        host.enter("of b", into: "b")
        host.update(to: Rows(names: ["b", "c", "a"]))
        #expect(host.outline == ["TextField b = of b", "TextField c = ", "TextField a = "])
        host.update(to: Rows(names: ["c"]))
        host.update(to: Rows(names: ["c", "b"]))
        #expect(host.outline == ["TextField c = ", "TextField b = "])
    }
}
