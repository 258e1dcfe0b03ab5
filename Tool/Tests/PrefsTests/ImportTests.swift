import Foundation
import Testing

struct ImportTests {
    private static var list: [String: Any] {
        [
            "on": true, "one": 1, "two": 2.0, "big": UInt64.max, "least": Int64.min, "text": "a",
            "bytes": Data([1, 2]),
            "when": Date(timeIntervalSinceReferenceDate: 5), "list": [1, "x"] as [Any], "dict": ["k": false],
        ]
    }
    private static let imported = """
        big\t18446744073709551615
        bytes\t{"$data":"AQI="}
        dict\t{"k":false}
        least\t-9223372036854775808
        list\t[1,"x"]
        on\ttrue
        one\t1
        text\t"a"
        two\t2.0
        when\t{"$date":"2001-01-01T00:00:05Z"}

        """

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func propertyListKeepsItsTypes(_ format: PropertyListSerialization.PropertyListFormat) throws {
        let tool = try Tool()
        let data = try PropertyListSerialization.data(fromPropertyList: Self.list, format: format, options: 0)
        try data.write(to: URL(filePath: tool.folder + "/list"))
        #expect(try tool.run("import app list") == Tool.Run(output: "", error: "", status: 0))
        #expect(try tool.run("read app").output == Self.imported)
    }

    @Test
    func fileOfUserDefaultsIsTheDefaultSource() throws {
        let tool = try Tool()
        let data = try PropertyListSerialization.data(fromPropertyList: Self.list, format: .binary, options: 0)
        try data.write(to: URL(filePath: tool.folder + "/config/com.example.app.plist"))
        #expect(try tool.run("import com.example.app").status == 0)
        #expect(try tool.run("read com.example.app").output == Self.imported)
    }

    /// Each list contains the next list twice, or itself, so that expanding it takes exponential or endless time.
    @Test(arguments: [true, false])
    func listWithoutAnEndIsAnError(isCircle: Bool) throws {
        let tool = try Tool()
        let count: UInt8 = 60
        var (bytes, offsets) = (Array("bplist00".utf8), [UInt8]())
        func add(_ object: [UInt8]) {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        add([0xD1, 1, 2])
        add([0x51, UInt8(ascii: "a")])
        for number in 2..<count {
            add(isCircle ? [0xA1, number == count - 1 ? 2 : number + 1] : [0xA2, number + 1, number + 1])
        }
        add([0x08])
        let table = UInt8(bytes.count)
        bytes +=
            offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(offsets.count)]
            + [UInt8](repeating: 0, count: 8)
        bytes += [0, 0, 0, 0, 0, 0, 0, table]
        try Data(bytes).write(to: URL(filePath: tool.folder + "/list"))
        let run = try tool.run("import app list")
        #expect(run.status == 3 && run.error.hasPrefix("prefs: list can't be read as a property list: "), "\(run)")
        #expect(run.error.contains("refers to the same objects so often"), "found before any of it is read")
        #expect(try tool.files().keys.sorted() == ["config", "list"])
    }

    @Test
    func objectOfAnotherProgramIsImported() throws {
        let tool = try Tool()
        let text = """
            // written by a program
            {
              "$schema": "https://example.com/s.json", /* not a preference */
              "url": "http://a//b /* c */", "size": {"width": 5, "height": null},
              "inner": {"$schema": "s", "at": {"$date": "2026-11-20T22:00:00Z"}, "two": {"$a": 1, "b": 2}},
              "list": [1, null, "//"], "gone": null
            }
            """
        try Data(text.utf8).write(to: URL(filePath: tool.folder + "/settings.json"))
        #expect(try tool.run("import app settings.json") == Tool.Run(output: "", error: "", status: 0))
        #expect(
            try tool.run("read app").output
                == "inner\t{\"$$schema\":\"s\",\"at\":{\"$date\":\"2026-11-20T22:00:00Z\"},\"two\":{\"$$a\":1,\"b\":2}}\n"
                + "list\t[1,\"$null\",\"//\"]\nsize\t{\"width\":5}\nurl\t\"http://a//b /* c */\"\n"
        )
    }

    /// Foundation's parser may crash on these files; the tool must not.
    @Test(arguments: 0..<40)
    func damagedPropertyListIsAnError(_ seed: Int) throws {
        let tool = try Tool()
        let data = try PropertyListSerialization.data(fromPropertyList: Self.list, format: .binary, options: 0)
        var bytes = [UInt8](data)
        // The trailer has the offsets of the objects, so a wrong one refers to arbitrary bytes.
        let position = bytes.count - 1 - seed % 32
        bytes[position] ^= UInt8(truncatingIfNeeded: seed &* 37 | 1)
        try Data(bytes).write(to: URL(filePath: tool.folder + "/list"))
        let run = try tool.run("import app list")
        if run.status == 0 {
            // Some of these bytes have no effect.
            #expect(try tool.run("read app").output == Self.imported)
        } else {
            #expect(run.status == 3 && run.error.hasPrefix("prefs: list can't be read as a property list: "), "\(run)")
            #expect(try tool.files().keys.sorted() == ["config", "list"])
        }
    }

    @Test
    func exportAsXMLIsAPropertyListOfFoundation() throws {
        let tool = try Tool()
        let data = try PropertyListSerialization.data(fromPropertyList: Self.list, format: .xml, options: 0)
        try data.write(to: URL(filePath: tool.folder + "/list"))
        try tool.run("import app list")
        let text = try tool.run("export app --format xml").output
        let read = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        #expect(NSDictionary(dictionary: Self.list).isEqual(read))
    }
}
