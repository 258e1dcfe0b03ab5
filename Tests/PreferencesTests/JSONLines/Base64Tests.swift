import Foundation
import TestSupport
import Testing

@testable import Preferences

struct Base64Tests {
    @Test
    func whatFoundationWritesIsReadBack() {
        var random = SystemRandomNumberGenerator()
        for count in 0...200 {
            let data = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            same(decoded(data.base64EncodedString()), data)
        }
    }

    @Test
    func theTextIsThatOfFoundation() {
        var random = SystemRandomNumberGenerator()
        for count in 0...200 {
            // A slice, whose first index isn't zero.
            let data = Data((0..<count + 3).map { _ in UInt8.random(in: 0...255, using: &random) })[3...]
            var text = Array("text".utf8)
            Base64.append(data, to: &text)
            same(String(decoding: text, as: UTF8.self), "text" + data.base64EncodedString())
        }
    }

    @Test(arguments: ["AAH+/w==", "AAEC", "AAE=", "////", "AA=="])
    func anyCharacterAtAnyPlaceIsAcceptedIfFoundationWritesIt(_ text: String) {
        for index in text.utf8.indices {
            for byte in UInt8(0)...127 {
                let place = text.utf8.distance(from: text.utf8.startIndex, to: index)
                var bytes = Array(text.utf8)
                bytes[place] = byte
                let changed = String(decoding: bytes, as: UTF8.self)
                let expected = Data(base64Encoded: changed).flatMap { $0.base64EncodedString() == changed ? $0 : nil }
                same(decoded(changed), expected, "\(changed)")
            }
        }
    }

    @Test(arguments: ["A", "AA", "AAA", "AAAAA", "=", "==", "===", "====", "A===", "AA==AAAA", "AAAA====", "é=="])
    func textThatIsNotCanonicalIsRejected(_ text: String) {
        same(decoded(text), nil)
    }

    private func decoded(_ text: String) -> Data? {
        Array(text.utf8).withUnsafeBytes { Base64.data(of: $0) }
    }
}
