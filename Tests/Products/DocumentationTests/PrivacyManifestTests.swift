import Foundation
import TestSupport
import Testing

/// Apple's list of the reasons for which the library calls certain functions.
struct PrivacyManifestTests {
    @Test
    func eachDeclaredReasonIsExplained() throws {
        let folder = Snippet.root.appending(path: "Sources/Preferences")
        let manifest = try String(contentsOf: folder.appending(path: "PrivacyInfo.xcprivacy"), encoding: .utf8)
        let decision = folder.appending(path: "Preferences.docc/Decisions/PrivacyManifest.md")
        let headings = try String(contentsOf: decision, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("## ")
        }
        let declared = Set(manifest.matches(of: /<string>(\w{4}\.1)</).map { String($0.1) })
        let explained = Set(headings.joined().matches(of: /\b\w{4}\.1\b/).map { String($0.0) })
        #expect(declared.contains("AC6B.1"))
        same(declared, explained)
    }
}
