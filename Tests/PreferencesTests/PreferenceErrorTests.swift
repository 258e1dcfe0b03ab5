import Foundation
import TestSupport
import Testing

@testable import Preferences

struct PreferenceErrorTests {
    private let error = PreferenceError(
        .readOnly,
        name: "volume",
        "the store can only be read",
        cause: CancellationError()
    )

    @Test
    func localizedDescriptionIsTheDescription() {
        let erased: any Error = error
        same(erased.localizedDescription, error.description)
        same(error.description, "preference \"volume\": the store can only be read (CancellationError())")
    }

    @Test
    func codeIsCaught() throws {
        func caught(_ error: any Error) -> String {
            do { throw error } catch PreferenceError.invalid {
                return "invalid"
            } catch PreferenceError.readOnly {
                return "readOnly"
            } catch {
                return "other"
            }
        }
        same(caught(error), "readOnly")
        same(caught(PreferenceError(.invalid, "")), "invalid")
        same(caught(PreferenceError(.managed, "")), "other")
        same(caught(CancellationError()), "other")
        do throws(PreferenceError) {
            throw error
        } catch PreferenceError.readOnly {
            #expect(error.code == .readOnly && error.code == PreferenceError.readOnly)
        } catch {
            Issue.record(error)
        }
    }
}
