import Foundation
import PreferencesValidation
import TestSupport
import Testing

@testable import Preferences

extension CommandLineOptionTests {
    @Test
    func aWordBehindAFlagIsReadOverAValidatedStore() throws {
        let words = words("--limit 7 --verbose file")
        let store = try PreferenceStore.validated(Settings.self, over: .layered([.arguments(words), .inMemory()]))
        let settings = Settings(in: store)
        #expect(settings.limit == 7 && settings.verbose)
    }
}
