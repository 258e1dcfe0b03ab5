import TestSupport
import Testing

@testable import Preferences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Two versions of one program that share a store: each has members, cases and nested members that the other one doesn't have.

private enum OldMode: String, Codable, CaseIterable { case plain, wide }
private enum NewMode: String, Codable, CaseIterable { case plain, tall, huge }
private enum OldShape: Codable, Equatable { case circle(radius: Int), square(side: Int) }
private enum NewShape: Codable, Equatable { case circle(radius: Int, color: String?), hexagon(side: Int) }

private struct OldPart: Codable, Equatable { var a = 1, b = 2 }
private struct NewPart: Codable, Equatable {
    var b = 2
    var c = 3
    var names = ["x": 1]
}
private struct OldItem: EvolvingValue, Equatable {
    var id = 0, name = 0
    var modes: [OldMode] = []
}
private struct NewItem: EvolvingValue, Equatable {
    var id = 0, size = 7
    var modes: [NewMode] = []
    var note: String?
}

private struct OldEntry: EvolvingValue, Equatable { var a = 1, b = 2 }
private struct NewEntry: EvolvingValue, Equatable { var b = 2, c = 3 }

private struct Old: Codable, Equatable {
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

private struct New: Codable, Equatable {
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
private protocol Version: Codable, Equatable, Sendable {
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

extension PropertyListValue {
    /// The value at a path of keys.
    fileprivate func member(at path: String) -> PropertyListValue? {
        path.split(separator: ".").reduce(self as PropertyListValue?) { $0?[member: String($1)] }
    }
}

struct EvolutionLawTests {
    /// All members of a value that hold no others, by path; of lists, all elements by their identity.
    private func leaves(_ value: PropertyListValue?, _ path: String = "") -> [String: PropertyListValue] {
        switch value {
        case .dictionary(let members):
            members.reduce(into: [:]) { found, member in
                found.merge(leaves(member.value, path.isEmpty ? member.key : path + "." + member.key)) { $1 }
            }
        case .array(let elements) where path == "entries":
            // JSON has them as a list of keys and values.
            stride(from: 0, to: elements.count, by: 2).reduce(into: [:]) { found, index in
                guard case .string(let key) = elements[index] else { return }
                found.merge(leaves(elements[index + 1], path + "." + key)) { $1 }
            }
        case .array(let elements):
            elements.reduce(into: [:]) { found, element in
                let key = element[member: "id"]?.description ?? element.description
                found.merge(leaves(element, path + "[" + key + "]")) { $1 }
            }
        case let value?: [path: value]
        case nil: [:]
        }
    }

    /// Sets, in turn, by programs of both versions: whatever a program has not set stays as it is.
    private func runInTurn(
        _ coding: (old: PreferenceCoding<Old>, new: PreferenceCoding<New>),
        _ kind: StoreKind,
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        try kind.withStore { store in
            store.issueHandler = { _ in }
            let (old, new) = (
                Preference("value", default: Old(), coding: coding.old, in: store),
                Preference("value", default: New(), coding: coding.new, in: store)
            )
            for _ in 0..<12 {
                if Bool.random(using: &random) {
                    try step(old, &random, "\(seed)")
                } else {
                    try step(new, &random, "\(seed)")
                }
            }
        }
    }

    private func step<Value: Version>(_ preference: Preference<Value>, _ random: inout SeededGenerator, _ place: String)
        throws
    {
        let tree = { preference.declaration.coding.form.tree(of: $0) }
        let before = preference.storedValue.flatMap(tree)
        var value = preference.value
        let shown = value
        let edited = value.edit(&random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: preference.value = value
        case 1: try preference.write(value)
        case 2: try preference.update { $0 = value }
        default: try preference.store.transaction { $0[preference] = value }
        }
        same(preference.value, value, "what was set is read: \(place)")
        let after = preference.storedValue.flatMap(tree)
        let (old, new) = (leaves(before), leaves(after))
        for (path, leaf) in old where !path.hasPrefix(edited) {
            same(new[path], leaf, "\(path) was lost by a set of \(edited): \(place) \(before as Any) \(after as Any)")
        }
        // In what was set, everything that the program doesn't know stays.
        if ["items", "modes", "entries"].contains(edited) {
            let understood = leaves(try PropertyListValue(encoding: shown))
            for (path, leaf) in old where path.hasPrefix(edited) && understood[path] == nil {
                same(new[path], leaf, "\(path) was lost by a set of \(edited): \(place)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func programsOfTwoVersionsLoseNothingOfEachOther(kind: StoreKind) throws {
        for seed in 1...(ProcessInfo.processInfo.environment["FULL_TESTS"] == nil ? 20 : 2_000) as ClosedRange<UInt64> {
            try runInTurn((.propertyList, .propertyList), kind, seed)
            try runInTurn((.json, .json), kind, seed)
            try runInTurn((.jsonString, .jsonString), kind, seed)
        }
    }

    /// Sets at once, by programs of both versions, over one store and, as two processes do, over one file: members that only one of them
    /// knows have its last value.
    @Test(arguments: [nil, .memory, .file, .layered] as [StoreKind?])
    func programsOfTwoVersionsAtOnceLoseNothing(kind: StoreKind?) async throws {
        guard let kind else {
            return try await withTemporaryFolder { folder in
                let path = folder.appending(path: "shared.jsonl").path
                try await setAtOnce(
                    [0, 1].map { _ in PreferenceStore(backend: FileBackend(path: path, watcher: nil)) }
                )
            }
        }
        try await kind.withStore { store in try await setAtOnce([store, store]) }
    }

    private func setAtOnce(_ stores: [PreferenceStore]) async throws {
        for store in stores { store.issueHandler = { _ in } }
        try await stores[0].write(["later": ["a": 1]], for: "value")
        await onThreads(2) { thread in
            if thread == 0 {
                let old = Preference("value", default: Old(), in: stores[0])
                for number in 1...50 { old[\.y].value = number }
            } else {
                let new = Preference("value", default: New(), in: stores[1])
                for number in 1...50 { new.value.z = number }
            }
        }
        try await stores[0].load()
        let value = stores[0]["value"]
        #expect(value?[member: "y"] == 50 && value?[member: "z"] == 50 && value?[member: "later"] == ["a": 1])
    }
}
