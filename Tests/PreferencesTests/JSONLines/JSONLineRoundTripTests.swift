import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Values that are read back the same, to the last bit.
struct JSONLineRoundTripTests {
    @Test
    func randomValuesReadBackTheSame() throws {
        var random = SeededGenerator(seed: 1)
        for round in 0..<rounds(10_000) {
            let value = random.value()
            let name = "n" + random.string()
            let line = try Line.write(name, value)
            #expect(!line.dropLast().utf8.contains(UInt8(ascii: "\n")))
            try same(Line.read(Array(line.utf8.dropLast())), [Line.Entry(name: name, value: value)], "round \(round)")
            try same(Line.readValue(Line.writeValue(value)), value, "round \(round)")
        }
    }

    @Test
    func randomDecimalsAreReadAsTheNearestDouble() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<rounds(10_000) {
            let digits = (0..<Int.random(in: 1...22, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
            let exponent = Int.random(in: -40...40, using: &random)
            let text = "\(exponent < 0 ? "-" : "")1.\(digits.map(String.init).joined())e\(exponent)"
            try same(Line.readValue(text), .real(#require(Double(text))), "\(text)")
        }
    }

    @Test
    func randomTransactionsReadBackTheSame() throws {
        var random = SeededGenerator(seed: 2)
        for round in 0..<rounds(1_000) {
            var changes: [String: PropertyListValue?] = [:]
            for _ in 0..<8 {
                changes["$" + random.string()] = .some(Bool.random(using: &random) ? random.value() : nil)
            }
            let entries = try Line.read(Array(Line.write(changes).utf8.dropLast()))
            same(entries.count, changes.count)
            same(Dictionary(entries.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }), changes, "round \(round)")
            for (entry, next) in zip(entries, entries.dropFirst()) {
                #expect(entry.name.utf8.lexicographicallyPrecedes(next.name.utf8))
            }
        }
    }

    @Test
    func largestNestingReadsBackTheSame() throws {
        for value in [PropertyListValue.nestedArrays(128), .nestedDictionaries(128)] {
            try same(Line.readValue(Line.writeValue(value)), value)
            try same(Line.read(Line.write("n", value)), [Line.Entry(name: "n", value: value)])
        }
    }

    @Test
    func tagInTheInnermostLevelReadsBackTheSame() throws {
        let leaf = PropertyListValue.array([.data(Data([1])), .real(.nan), .date(secondsSince2001: 1)])
        let value = (1..<128).reduce(leaf) { value, _ in .array([value]) }
        try same(Line.readValue(Line.writeValue(value)), value)
    }

    @Test(arguments: [PropertyListValue.nestedArrays(129), .nestedDictionaries(129)])
    func deeperNestingIsRefused(value: PropertyListValue) {
        var bytes: [UInt8] = [1, 2, 3]
        let error = #expect(throws: PreferenceError.self) {
            try JSONLine.write(["a": .integer(1), "n": value], to: &bytes)
        }
        same(error?.code, .tooLarge)
        same(error?.name, "n")
        #expect(throws: PreferenceError.self) { try JSONLine.writeValue(value, to: &bytes) }
        same(bytes, [1, 2, 3])
    }

    @Test
    func emptyNameIsRefused() {
        var bytes: [UInt8] = [1]
        let error = #expect(throws: PreferenceError.self) {
            try JSONLine.write(name: "", value: .integer(1), to: &bytes)
        }
        same(error?.code, .invalidName)
        same(bytes, [1])
    }

    @Test
    func longestLineReadsBackAndLongerOnesAreRefused() throws {
        let limit = isFullTest ? JSONLine.maximumLength : 1 << 20
        // {"n":"…"}
        let longest = String(repeating: "x", count: limit - 8)
        var bytes: [UInt8] = [1]
        try JSONLine.write(name: "n", value: .string(longest), to: &bytes, maximumLength: limit)
        same(bytes.count, 1 + limit + 1)
        let line = Array(bytes[1..<bytes.count - 1])
        try same(Line.read(line, maximumLength: limit), [Line.Entry(name: "n", value: .string(longest))])

        bytes = [1]
        let part = PropertyListValue.string(String(repeating: "x", count: limit / 64))
        let parts: [PropertyListValue] = [
            .string(longest + "x"), .array(Array(repeating: part, count: 64)), .data(Data(count: limit / 64 * 49)),
        ]
        for (index, value) in parts.enumerated() {
            let error = #expect(throws: PreferenceError.self) {
                try JSONLine.write(name: "n", value: value, to: &bytes, maximumLength: limit)
            }
            same(error?.code, .tooLarge, "part \(index)")
            same(bytes, [1])
        }
    }

    @Test
    func deepValuesNeedLittleStack() async {
        await onThread(stackSize: 512 << 10) {
            for value in [PropertyListValue.nestedArrays(128), .nestedDictionaries(128)] {
                #expect(throws: Never.self) { try same(Line.readValue(Line.writeValue(value)), value) }
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/jq"), "jq is not in /usr/bin"))
    func jqAddsTheLinesToTheSameState() throws {
        let lines = [
            #"{"a":1,"b":-2.5,"c":"é \"q\" \\ \u0001😀","gone":true}"#, #"{"a":[1,2.25,{"k":false,"":[]}],"gone":null}"#,
            #"{"AutomaticallyUpdate":true,"a.b@c":9007199254740991,"d":{"x":{"y":"z"}}}"#, #"{"b":1e3}"#,
        ]
        var state: [String: PropertyListValue?] = [:]
        var written: [UInt8] = []
        for line in lines {
            for entry in try Line.read(line) {
                state[entry.name] = .some(entry.value)
                try JSONLine.write([entry.name: entry.value], to: &written)
            }
        }
        let added = try Line.read(jq("-s", "-c", "add", input: Data(written)))
        same(Dictionary(added.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }), state.mapValues { $0.map(asJQ) })
    }

    /// A whole real as the integer that `jq` turns it into.
    private func asJQ(_ value: PropertyListValue) -> PropertyListValue {
        if case .real(let value) = value, let whole = Int64(exactly: value) { return .integer(whole) }
        return value
    }

    private func jq(_ arguments: String..., input: Data) throws -> [UInt8] {
        let process = Foundation.Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/jq")
        process.arguments = arguments
        let (input, data, output) = (Pipe(), input, Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: data)
        try input.fileHandleForWriting.close()
        let result = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return result.filter { $0 != UInt8(ascii: "\n") }
    }
}
