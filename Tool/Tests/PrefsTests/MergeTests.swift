import Foundation
import Preferences
import Testing

@testable import PrefsCommands

struct MergeTests {
    typealias Contents = [String: PropertyListValue]

    private static func contents(using random: inout SeededGenerator, depth: Int = 0) -> Contents {
        var contents: Contents = [:]
        for name in ["a", "b", "c", "d"] {
            switch Int.random(in: 0..<(depth < 2 ? 5 : 4), using: &random) {
            case 0: continue
            case 4: contents[name] = .dictionary(Self.contents(using: &random, depth: depth + 1))
            case let number: contents[name] = .integer(Int64(number))
            }
        }
        return contents
    }

    /// Checks that the result is that of the side that changed a value, or this side's with a conflict.
    private static func check(_ base: Contents, _ ours: Contents, _ theirs: Contents, _ merge: ThreeWayMerge) {
        var conflicts = Set(merge.conflicts)
        func check(_ base: Contents, _ ours: Contents, _ theirs: Contents, _ merged: Contents, at path: [String]) {
            for name in Set(base.keys).union(ours.keys).union(theirs.keys).union(merged.keys) {
                let (old, our, their, new) = (base[name], ours[name], theirs[name], merged[name])
                if case (.dictionary(let our)?, .dictionary(let their)?) = (our, their), our != their,
                    our != old?.members,
                    their != old?.members
                {
                    check(old?.members ?? [:], our, their, new?.members ?? [:], at: path + [name])
                    continue
                }
                let isConflict = our != old && their != old && our != their
                #expect(new == (our == old ? their : our), "\(path + [name])")
                let isNamed = conflicts.remove(path + [name]) != nil
                #expect(isNamed == isConflict, "\(path + [name])")
            }
        }
        check(base, ours, theirs, merge.contents, at: [])
        #expect(conflicts.isEmpty)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func bothSidesSurviveAndEachConflictIsNamed(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let base = Self.contents(using: &random)
            var sides: [Contents] = []
            for _ in 0..<2 {
                let changes = Self.contents(using: &random)
                // Some names stay, so that a value often changes on one side only.
                sides.append(
                    base.filter { _ in Bool.random(using: &random) || Bool.random(using: &random) }
                        .merging(changes) { Bool.random(using: &random) ? $0 : $1 }
                )
            }
            Self.check(base, sides[0], sides[1], ThreeWayMerge(base: base, ours: sides[0], theirs: sides[1]))
            let (forth, back) = (
                ThreeWayMerge(base: base, ours: sides[0], theirs: sides[1]),
                ThreeWayMerge(base: base, ours: sides[1], theirs: sides[0])
            )
            #expect(forth.conflicts == back.conflicts)
            if forth.conflicts.isEmpty { #expect(forth.contents == back.contents) }
        }
    }

    /// A stored `nil` and a form of a newer version are dictionaries in memory, and have no members.
    @Test(
        arguments: [
            (#"{"x":{"a":1}}"#, #"{"x":{"$$unset":true}}"#, #"{"x":{"a":1,"b":2}}"#),
            (#"{"x":{"a":1}}"#, #"{"x":{"a":2}}"#, #"{"x":{"$$unset":true}}"#),
            (#"{"x":{"a":1}}"#, #"{"x":{"a":1,"c":3}}"#, #"{"x":{"$future":"z"}}"#),
            (#"{"x":{"a":1}}"#, #"{"x":{"$future":"y"}}"#, #"{"x":{"$future":"z"}}"#),
            (#"{"x":{"$$unset":true}}"#, #"{"x":{"a":1}}"#, #"{"x":{"b":2}}"#),
            (#"{"x":{"$future":"z"}}"#, #"{"x":{"a":1}}"#, #"{"x":{"b":2}}"#),
        ] as [(String, String, String)]
    )
    func valueWithoutMembersConflictsAsAWhole(_ base: String, _ ours: String, _ theirs: String) throws {
        let tool = try Tool()
        for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
            try tool.write(text + "\n", to: "\(name).jsonl")
        }
        let run = try tool.run("merge base.jsonl ours.jsonl theirs.jsonl")
        #expect(run.status == 1 && run.error.contains("both sides changed x;"), "\(run)")
        #expect(try tool.read("ours.jsonl") == ours + "\n")
    }

    @Test
    func fileThatWasChangedInTheMeantimeStays() throws {
        let tool = try Tool()
        try tool.write("{\"a\":2}\n", to: "ours.jsonl")
        let (old, new) = (Array("{\"a\":1}\n".utf8), Array("{\"b\":1}\n".utf8))
        let failure = try #require(throws: Failure.self) {
            try MergeCommand.replace("\(tool.folder)/ours.jsonl", old, with: new)
        }
        #expect(failure.status == .failed && failure.message.contains("was changed by another process"))
        #expect(try tool.read("ours.jsonl") == "{\"a\":2}\n")
        try MergeCommand.replace("\(tool.folder)/ours.jsonl", Array("{\"a\":2}\n".utf8), with: new)
        #expect(try tool.read("ours.jsonl") == "{\"b\":1}\n")
    }

    @Test
    func textWithOtherValuesIsNotMerged() throws {
        let failure = try #require(throws: Failure.self) {
            try MergeCommand.bytes(Array("{\"a\":1}\n".utf8), changing: [], to: ["a": 2])
        }
        #expect(failure.status == .failed)
    }

    @Test(arguments: ["p.jsonl", "-d.jsonl"])
    func gitMergesByIt(_ file: String) throws {
        guard Needed.path(of: "git") != nil else { return }
        let tool = try Tool()
        let run = try tool.shell(
            """
            export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null; f=\(file)
            git init -q . && git config user.name a && git config user.email a@example.com
            git config merge.prefs.driver 'prefs merge -- %O %A %B %P'
            echo '*.jsonl merge=prefs' >.gitattributes; printf '{"a":1}\n{"b":1}\n' >$f
            git add -- .gitattributes $f && git commit -qm base && git checkout -qb other
            printf '{"a":1}\n{"b":2}\n' >$f && git commit -qam b && git checkout -q -
            printf '{"a":2}\n{"b":1}\n' >$f && git commit -qam a
            git merge -q other -m merged >merged && cat -- $f
            git checkout -q other && printf '{"a":3}\n{"b":2}\n' >$f && git commit -qam c && git checkout -q -
            git merge -q other -m again >out 2>&1; echo $?; grep -c -- "$f: both sides changed a" out; cat -- $f
            """
        )
        #expect(run.output == "{\"a\":2}\n{\"b\":2}\n1\n1\n{\"a\":2}\n{\"b\":2}\n", "\(run)")
    }
}

extension PropertyListValue {
    fileprivate var members: [String: PropertyListValue]? {
        if case .dictionary(let members) = self { members } else { nil }
    }
}

/// A generator whose numbers follow from a seed (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
