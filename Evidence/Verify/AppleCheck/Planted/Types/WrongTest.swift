// error: binary operator '==' cannot be applied to operands of type 'Int' and 'String'
#if canImport(Darwin)
import Testing

@testable import Preferences

struct WrongTest {
    @Test(arguments: [1, 2])
    func numberIsText(number: Int) throws {
        let store = PreferenceStore.inMemory(["count": 1])
        let count = try #require(try Preference<Int?>("count", in: store).read())
        #expect(count == "1", "after \(number)")
    }
}
#endif
