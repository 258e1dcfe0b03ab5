#if canImport(Combine) || OpenCombine
// snippet: publishing
import Preferences

#if canImport(Combine)
import Combine
#else
import OpenCombine  // by the trait of that name
#endif

final class StatusBar {
    private(set) var text = ""
    private var subscription: AnyCancellable?

    init(_ nickname: Preference<String>) {
        subscription = nickname.publisher
            .map { "Hello \($0)" }
            .removeDuplicates()
            .sink { [weak self] in self?.text = $0 }
    }
}
// end

import Testing

struct DocumentedPublisherTests {
    @Test
    func publisherSendsTheCurrentValueAndEachChange() {
        let nickname = Preference("nickname", default: "nobody", in: .inMemory())
        let bar = StatusBar(nickname)
        #expect(bar.text == "Hello nobody")
        nickname.value = "Ada"
        #expect(bar.text == "Hello Ada")
    }
}
#endif
