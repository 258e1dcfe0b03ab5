import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// The table of a file's values, compared with a dictionary that receives the same changes.
struct ValueTableTests {
    @Test
    func randomLinesAndSetsAreThoseOfADictionary() throws {
        for seed in 0..<UInt64(rounds(300)) {
            var random = SeededGenerator(seed: seed)
            let table = Table()
            var values: [String: PropertyListValue] = [:]
            // Few names, so that most are set repeatedly, and some that can't have an entry.
            let names =
                (0..<Int.random(in: 1...40, using: &random)).map { "name \($0)" }
                + ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}", "`", "\u{1FEF}", ";", "\u{37E}", "$", "\"\n"]
            for _ in 0..<200 {
                if Int.random(in: 0..<20, using: &random) == 0 {
                    let changes = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
                        let value = Int.random(in: 0..<4, using: &random) == 0 ? nil : random.value(nesting: 1)
                        return (names[Int.random(in: names.indices, using: &random)], value)
                    }
                    try table.read(linesOf: changes)
                    for (name, value) in changes { values[name] = value }
                    continue
                }
                let name = names[Int.random(in: names.indices, using: &random)]
                let value = Int.random(in: 0..<4, using: &random) == 0 ? nil : random.value(nesting: 2)
                if Bool.random(using: &random) {
                    try table.read(lineOf: [name: value])
                } else {
                    table.set(value, for: name)
                }
                values[name] = value
            }
            #expect(table.dictionary == values && table.count == values.count, "seed \(seed)")
            same(Set(table.names), Set(values.keys), "seed \(seed)")
            for name in names { same(table[name], values[name], "seed \(seed)") }
        }
    }

    @Test
    func aTransactionIsReadAsOne() throws {
        let table = Table()
        try table.read(lineOf: ["a": 1, "b": "two", "c": [3, 4.5], "d": ["key": true], "e": .data(Data([1, 2, 255]))])
        #expect(throws: JSONLineError.self) { try table.read(text: #"{"a":2,"b":3,"c":00}"#) }
        let expected: [String: PropertyListValue] = [
            "a": 1, "b": "two", "c": [3, 4.5], "d": ["key": true], "e": .data(Data([1, 2, 255])),
        ]
        same(table.dictionary, expected)
        try table.read(text: #"{"a":null,"b":null,"f":6,"f":7}"#)
        #expect(table["a"] == nil && table["b"] == nil && table["f"] == 7 && table.count == 4)
    }

    @Test(arguments: ["{\"a\":[1,\n2],\"b\":\"x\"}", "{\"a\":{\"k\":\n2}\n}", "{\"a\":\n1}"])
    func anObjectOverSeveralLinesIsWrittenOnOneLineForEachName(text: String) throws {
        let table = Table()
        try table.read(text: text)
        let lines = try table.lines()
        same(lines.count { $0 == "\n" }, table.count)
        let again = Table()
        for line in lines.split(separator: "\n") { try again.read(text: String(line)) }
        #expect(again.dictionary == table.dictionary && table.count > 0)
    }

    @Test
    func differencesAreThoseOfTheValues() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<rounds(200) {
            let one = Table()
            let other = Table()
            var (values, others): ([String: PropertyListValue], [String: PropertyListValue]) = ([:], [:])
            for number in 0..<30 {
                let name = number == 0 ? "\u{E9}" : "n\(number)"
                let value = random.value(nesting: 1)
                let isSame = Int.random(in: 0..<3, using: &random) > 0
                if Int.random(in: 0..<8, using: &random) > 0 {
                    try one.read(lineOf: [name: value])
                    values[name] = value
                }
                if Int.random(in: 0..<8, using: &random) > 0 {
                    let new = isSame ? value : random.value(nesting: 1)
                    if Bool.random(using: &random) {
                        other.set(new, for: name)
                    } else {
                        try other.read(lineOf: [name: new])
                    }
                    others[name] = new
                }
            }
            var expected: [String: PropertyListValue?] = [:]
            for name in Set(values.keys).union(others.keys) where values[name] != others[name] {
                expected.updateValue(others[name], forKey: name)
            }
            same(one.differences(to: other), expected)
        }
    }

    @Test
    func aCopyKeepsItsValues() throws {
        let table = Table()
        for number in 0..<100 { try table.read(lineOf: ["n\(number)": .integer(Int64(number))]) }
        let copy = table.copy
        for number in 0..<100 { table.set(nil, for: "n\(number)") }
        for number in 0..<200 { table.set("new", for: "m\(number)") }
        #expect(copy.count == 100 && copy["n7"] == 7 && copy["m7"] == nil)
        #expect(table.count == 200 && table["n7"] == nil && table["m7"] == "new")
    }

    @Test
    func unusedTextIsFreed() throws {
        let table = Table()
        let text = PropertyListValue.string(String(repeating: "x", count: 1000))
        for number in 0..<1000 { try table.read(lineOf: ["n\(number)": text]) }
        #expect(table.textCount > 1_000_000)
        for number in 0..<990 { table.set(.integer(Int64(number)), for: "n\(number)") }
        #expect(table.textCount < 100_000)
        #expect(table["n5"] == 5 && table["n995"] == text && table.count == 1000)
        // Lines that set one name repeatedly, each a little longer.
        for count in 1..<2000 { try table.read(lineOf: ["a": .string(String(repeating: "y", count: count))]) }
        #expect(table.textCount < 200_000)
        same(table["a"], .string(String(repeating: "y", count: 1999)))
    }

    @Test
    func namesWithoutValuesAreRemoved() throws {
        let table = Table()
        table.set("stays", for: "first")
        for number in 0..<10_000 {
            table.set(.integer(Int64(number)), for: "n\(number)")
            try table.read(text: "{\"m\(number)\":1}")
            table.set(nil, for: "n\(number)")
            try table.read(text: "{\"m\(number)\":null}")
        }
        #expect(table.entryCount < 100 && table.count == 1)
        same(table.dictionary, ["first": "stays"])
    }

    @Test
    func anEntryKeepsItsPlaceUntilANewNameComes() throws {
        let table = Table()
        for number in 0..<50 { try table.read(lineOf: ["n\(number)": .integer(Int64(number))]) }
        let place = try #require(table.index(of: "n7"))
        for number in 0..<50 { table.set(.string(String(repeating: "z", count: 3000)), for: "n\(number)") }
        same(table.index(of: "n7"), place)
        table.set(8, at: place)
        same(table["n7"], 8)
    }

    @Test
    func aNameOfAnyLengthIsFound() throws {
        let table = Table()
        let names = [1, 2, 3, 4, 7, 8, 9, 16, 17, 65_535, 65_536, 100_000].map { String(repeating: "n", count: $0) }
        for (number, name) in names.enumerated() { try table.read(lineOf: [name: .integer(Int64(number))]) }
        for (number, name) in names.enumerated() { same(table[name], .integer(Int64(number))) }
        for name in names { try table.read(lineOf: [name: nil]) }
        #expect(table.isEmpty && table.dictionary.isEmpty)
        try table.read(linesOf: names.map { ($0, .string("of \($0.count)")) })
        for name in names { same(table[name], .string("of \(name.count)")) }
        try table.read(linesOf: names.map { ($0, nil) })
        #expect(table.isEmpty && table.dictionary.isEmpty)
    }

    @Test
    func plainLinesAreReadTogether() {
        let table = Table()
        table.set("old", for: "c")
        let lines = """
            {"a":-1}
            {"b":"two"}
            {"c":3.25 }
            {"a":true}
            {"b":null}
            {"d":false}
            {"missing":null}
            {"l":[]}
            {"l":[1,{"k":"v"}]}

            """
        let others = [
            #"{"e":1e3}"#, #"{"e":"\n"}"#, #"{"e": 1}"#, #"{"e":[1, 2]}"#, #"{"$e":1}"#, #"{"":1}"#, #"{"e":01}"#,
            #"{"e":-}"#,
            #"{"é":1}"#, #"{"e":1,"f":2}"#, #"{"e":{"$$unset":true}}"#, #"{"e":nul}"#, #"{"e":1"#, "", "{\"e\":1}\r",
        ]
        for other in others.map({ $0 + "\n" }) + [#"{"e":1}"#] {
            let read = table.readPlainLines(lines + other)
            #expect(read.byteCount == lines.utf8.count && read.lineCount == 9, "\(other)")
            #expect(table.dictionary == ["a": true, "c": 3.25, "d": false, "l": [1, ["k": "v"]]] && table.count == 4)
        }
    }

    @Test
    func textOfRepeatedLinesIsFreed() {
        let table = Table()
        let lines = (0..<20_000).map { "{\"\($0 % 5)\":\($0 % 10)}\n{\"missing\":null}\n" }.joined()
        same(table.readPlainLines(lines).lineCount, 40_000)
        #expect(table.textCount < 100_000 && table["4"] == 9 && table.count == 5)
    }

    @Test
    func namesThatWereRemovedMakeRoomForThoseOfTheSameLines() {
        let table = Table()
        let stays = String(repeating: "a long value ", count: 100)
        func lines(_ numbers: Range<Int>, _ value: (Int) -> String) -> String {
            numbers.map { "{\"n\($0)\":\(value($0))}\n" }.joined()
        }
        let text =
            lines(0..<60) { $0 == 59 ? "\"\(stays)\"" : "\($0)" } + lines(0..<59) { _ in "null" }
            + lines(60..<200) { "\"of \($0)\"" }
        same(table.readPlainLines(text).lineCount, 259)
        #expect(table.entryCount < 200, "some were dropped")
        #expect(table["n59"] == .string(stays) && table["n3"] == nil && table.count == 141)
        for number in 60..<200 { same(table["n\(number)"], .string("of \(number)")) }
    }

    @Test
    func whatIsWrittenIsSortedByBytes() throws {
        let table = Table()
        let names = ["b", "a", "abcdefgh", "abcdefg", "abcdefghi", "abcdefgha", "a\u{0}", "\u{E9}", "$x", "Z", "aa"]
        for name in names { try table.read(lineOf: [name: 1]) }
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let lines = try sorted.map { try Line.write($0, 1) }
        try same(table.lines(), lines.joined())
    }
}

/// A table that can be copied by reference, as expectations do.
private final class Table {
    private var table: ValueTable

    init() { table = ValueTable() }
    private init(_ table: consuming ValueTable) { self.table = table }

    var copy: Table { Table(table.copy) }
    var dictionary: [String: PropertyListValue] { table.dictionary }
    var names: [String] { table.names }
    var count: Int { table.count }
    var isEmpty: Bool { table.isEmpty }
    var textCount: Int { table.textCount }
    var entryCount: Int { table.entryCount }
    subscript(name: String) -> PropertyListValue? { table[name] }
    func index(of name: String) -> Int? { table.index(of: name) }
    func set(_ value: PropertyListValue?, for name: String) { table.set(value, for: name) }
    func set(_ value: PropertyListValue?, at index: Int) { table.set(value, at: index) }
    func differences(to other: Table) -> [String: PropertyListValue?] { table.differences(to: other.table) }

    func lines() throws -> String {
        var bytes: [UInt8] = []
        try table.appendLines(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func read(lineOf changes: [String: PropertyListValue?]) throws {
        var line: [UInt8] = []
        try JSONLine.write(changes, to: &line)
        line.removeLast()
        try line.withUnsafeBytes { (line) throws in try table.read(line) }
    }

    /// Reads lines of one name each as those of a file are read.
    func read(linesOf changes: [(String, PropertyListValue?)]) throws {
        let bytes = try Array(changes.map { try Line.write($0, $1) }.joined().utf8)
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                rest = rest.dropFirst(table.readPlainLines(UnsafeRawBufferPointer(rebasing: rest)).byteCount)
                guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return }
                try table.read(UnsafeRawBufferPointer(rebasing: rest[..<end]))
                rest = rest[(end + 1)...]
            }
        }
    }

    func readPlainLines(_ lines: String) -> (byteCount: Int, lineCount: Int) {
        Array(lines.utf8).withUnsafeBytes { table.readPlainLines($0) }
    }

    func read(text: String) throws {
        try Array(text.utf8).withUnsafeBytes { (line) throws in try table.read(line) }
    }
}
