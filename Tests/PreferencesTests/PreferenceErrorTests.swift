import Foundation
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
        #expect(erased.localizedDescription == error.description)
        #expect(error.description == "preference \"volume\": the store can only be read (CancellationError())")
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
        #expect(caught(error) == "readOnly")
        #expect(caught(PreferenceError(.invalid, "")) == "invalid")
        #expect(caught(PreferenceError(.managed, "")) == "other")
        #expect(caught(CancellationError()) == "other")
        do throws(PreferenceError) {
            throw error
        } catch PreferenceError.readOnly {
            #expect(error.code == .readOnly && error.code == PreferenceError.readOnly)
        } catch {
            Issue.record(error)
        }
    }

    /// One that was forgotten could be compared, but not caught.
    @Test
    func eachCodeIsAStaticOfTheError() throws {
        let file = URL(filePath: #filePath).appending(
            path: "../../../Sources/Preferences/Values/PreferenceError.swift"
        )
        .standardized
        let source = try String(contentsOf: file, encoding: .utf8)
        let codes = source.matches(of: /static let (\w+) = Code\("/).map(\.1)
        #expect(codes.count > 20)
        #expect(source.matches(of: /static let (\w+) = Code\.(\w+)/).map(\.1) == codes)
        for match in source.matches(of: /static let (\w+) = Code\.(\w+)/) { #expect(match.1 == match.2) }
    }
}
