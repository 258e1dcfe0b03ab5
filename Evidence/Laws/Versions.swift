import FileTestSupport
import Preferences

// Two versions of one program that share a store: each has members, cases and nested members that the other one doesn't have.

enum OldMode: String, Codable, CaseIterable { case plain, wide }
enum NewMode: String, Codable, CaseIterable { case plain, tall, huge }
enum OldShape: Codable, Equatable { case circle(radius: Int), square(side: Int) }
enum NewShape: Codable, Equatable { case circle(radius: Int, color: String?), hexagon(side: Int) }

struct OldPart: Codable, Equatable { var a = 1, b = 2 }
struct NewPart: Codable, Equatable {
    var b = 2
    var c = 3
    var names = ["x": 1]
}
struct OldItem: EvolvingValue, Equatable {
    var id = 0, name = 0
    var modes: [OldMode] = []
}
struct NewItem: EvolvingValue, Equatable {
    var id = 0, size = 7
    var modes: [NewMode] = []
    var note: String?
}

struct OldEntry: EvolvingValue, Equatable { var a = 1, b = 2 }
struct NewEntry: EvolvingValue, Equatable { var b = 2, c = 3 }

struct Old: Codable, Equatable {
    var x = 0, y = 0
    var mode = OldMode.plain
    var note: String?
    var part = OldPart()
    var items: [OldItem] = []
    var modes: Set<OldMode> = []
    var table: [String: OldMode] = [:]
    var entries: [OldMode: OldEntry] = [:]
    var shape = OldShape.circle(radius: 1)
}

struct New: Codable, Equatable {
    var x = 0, z = 5
    var mode = NewMode.plain
    var flag: Bool?
    var part = NewPart()
    var items: [NewItem] = []
    var modes: Set<NewMode> = []
    var table: [String: NewMode] = [:]
    var entries: [NewMode: NewEntry] = [:]
    var shape = NewShape.circle(radius: 1, color: nil)
}

/// A program of one version. What it knows of the value is what it has set or seen.
protocol Version: Codable, Equatable, Sendable {
    init()
    /// Changes one part at random; returns the paths of the members that it has set.
    mutating func edit(_ random: inout SeededGenerator) -> String
}

extension Old: Version {
    mutating func edit(_ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: x = .random(in: 0..<9, using: &random); return "x"
        case 1: y = .random(in: 0..<9, using: &random); return "y"
        case 2: mode = OldMode.allCases.randomElement(using: &random) ?? .plain; return "mode"
        case 3: note = Bool.random(using: &random) ? "n" : nil; return "note"
        case 4: part.a = .random(in: 0..<9, using: &random); return "part.a"
        case 5:
            if items.isEmpty || Bool.random(using: &random) {
                items.append(OldItem(id: (items.map(\.id).max() ?? 0) + 1))
            } else {
                let index = items.indices.randomElement(using: &random) ?? 0
                items[index].name += 1
            }
            return "items"
        case 6: modes.formSymmetricDifference([.plain]); return "modes"
        case 7:
            let key = "k\(Int.random(in: 0..<3, using: &random))";
            table[key] = OldMode.allCases.randomElement(using: &random); return "table." + key
        case 8:
            let mode = OldMode.allCases.randomElement(using: &random) ?? .plain
            guard entries[mode] == nil || Bool.random(using: &random) else {
                entries[mode] = nil
                return "entries.\(mode)"
            }
            entries[mode, default: OldEntry()].a = .random(in: 0..<9, using: &random)
            return "entries.\(mode).a"
        default: shape = Bool.random(using: &random) ? .circle(radius: 4) : .square(side: 5); return "shape"
        }
    }
}

extension New: Version {
    mutating func edit(_ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: x = .random(in: 0..<9, using: &random); return "x"
        case 1: z = .random(in: 0..<9, using: &random); return "z"
        case 2: mode = NewMode.allCases.randomElement(using: &random) ?? .plain; return "mode"
        case 3: flag = Bool.random(using: &random) ? true : nil; return "flag"
        case 4: part.c = .random(in: 0..<9, using: &random); return "part.c"
        case 5:
            if items.isEmpty || Bool.random(using: &random) {
                items.insert(NewItem(id: (items.map(\.id).max() ?? 0) + 10), at: 0)
            } else {
                let index = items.indices.randomElement(using: &random) ?? 0
                items[index].size += 1
            }
            return "items"
        case 6: modes.formSymmetricDifference([.tall, .huge]); return "modes"
        case 7:
            let key = "k\(Int.random(in: 0..<3, using: &random))";
            table[key] = NewMode.allCases.randomElement(using: &random); return "table." + key
        case 8:
            for mode in NewMode.allCases { entries[mode, default: NewEntry()].c = .random(in: 0..<9, using: &random) }
            return "entries"
        default:
            shape = Bool.random(using: &random) ? .circle(radius: 6, color: "red") : .hexagon(side: 5); return "shape"
        }
    }
}
