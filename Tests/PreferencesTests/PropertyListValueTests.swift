import Preferences
import Testing

struct PropertyListValueTests {
    @Test
    func integerAndRealDiffer() {
        #expect(PropertyListValue.integer(2) != .real(2))
    }
}
