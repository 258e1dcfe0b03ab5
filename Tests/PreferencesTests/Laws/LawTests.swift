import DurableFile
import FileTestSupport
import Observation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// The laws over stacks of layers and sequences of calls that seeds make.
@Suite(.timeLimit(.minutes(30)))
struct LawTests {
    private struct Frame: Codable, CustomStringConvertible {
        var x = 7
        var width = 8

        var description: String { "\(x) × \(width)" }
    }

    private static func subjects(of store: PreferenceStore) -> [LawSubject] {
        @Sendable func integer(_ stored: PropertyListValue) -> Int64? {
            if case .integer(let value) = stored { value } else { nil }
        }
        return [
            LawSubject(Preference("a", default: 5, .range(0...9), in: store), values: [0, 3, 5, 8]) { stored in
                integer(stored).flatMap { (0...9).contains($0) ? "\($0)" : nil }
            },
            LawSubject(Preference<Int?>("b", in: store), values: [nil, 3, 8]) { stored in
                integer(stored).map { String(describing: Optional(Int($0))) }
            },
            LawSubject(
                Preference("c", default: Frame(), in: store),
                values: [Frame(), Frame(x: 1, width: 2), Frame(x: 3, width: 2)]
            ) {
                guard case .dictionary(let members) = $0 else { return nil }
                let (x, width) = (members["x"].flatMap(integer), members["width"].flatMap(integer))
                return "\(Frame(x: x.map { Int($0) } ?? 7, width: width.map { Int($0) } ?? 8))"
            },
            LawSubject(
                Preference("d", default: "none", .formerly("e", "f"), in: store),
                formerly: ["e", "f"],
                values: ["none", "text", "new"]
            ) { if case .string(let text) = $0 { text } else { nil } },
        ]
    }

    @Test
    func stacksKeepTheLaws() async throws {
        for seed in 0..<UInt64(isFullTest ? 20_000 : 1_000) {
            try await check(seed)
            // Other tests run on the same few threads.
            await Task.yield()
        }
    }

    private func check(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let stack = LawStack(&generator)
        let subjects = Self.subjects(of: stack.top)
        let seen = subjects.map { _ in (Recorder<String>(), Recorder<String>()) }
        let observations = zip(subjects, seen).flatMap { subject, seen in
            [
                subject.observe(.didSet) { seen.0.record("\($0) → \($1)") },
                subject.observe(.willSet) { seen.1.record("\($0) → \($1)") },
            ]
        }
        var iterators = subjects.map { $0.updates() }
        for index in subjects.indices { _ = try await iterators[index].next() }
        for step in 0..<(isFullTest ? 24 : 12) {
            let before = stack.contents
            let shown = subjects.map { $0.shown(in: before, stack.parts) }
            // It sends what it was to send for the step before.
            await MainActor.run {}
            let notified = subjects.map { subject in
                let notified = Counter()
                withObservationTracking {
                    _ = subject.shown()
                } onChange: {
                    notified.next()
                }
                return notified
            }
            let (what, isFailing) = try perform(step, on: stack, subjects, before, &generator)
            let after = stack.contents
            for (index, subject) in subjects.enumerated() {
                var context: Comment {
                    """
                    seed \(seed), step \(step), \(what), "\(subject.name)" over \(stack.parts)
                    \(before)
                    \(after)
                    """
                }
                let new = subject.shown(in: after, stack.parts)
                same(subject.shown(), new, context)
                let expected = shown[index] == new ? [] : ["\(shown[index]) → \(new)"]
                same(seen[index].0.drain(), expected, context)
                let early = seen[index].1.drain()
                // A set that then fails was announced as well.
                if !isFailing { same(early, expected, context) }
                if expected.isEmpty {
                    let forms = [before, after].map { subject.dictionary(in: $0, stack.parts) }
                    let isComparedByForm = subject.name == "c" && !forms.contains(nil) && forms[0] != forms[1]
                    same(notified[index].value, isComparedByForm ? 1 : 0, context)
                } else {
                    // An element that came without a change, or twice, would stand in front.
                    let element = try await iterators[index].next() as? String
                    same(element, new, context)
                    // The main actor may be sending an earlier signal, and then sends this one, too.
                    for _ in 0..<100_000 where notified[index].value == 0 { Pause.sleep(microseconds: 100) }
                    same(notified[index].value, 1, context)
                }
            }
        }
        withExtendedLifetime(observations) {}
    }

    /// Makes a change, checks the laws for that change alone, and returns its description.
    private func perform(
        _ step: Int,
        on stack: LawStack,
        _ subjects: [LawSubject],
        _ before: [[String: PropertyListValue]],
        _ generator: inout SeededGenerator
    ) throws -> (String, isFailing: Bool) {
        let subject = subjects.pick(&generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...3:
            let part = stack.parts.pick(&generator)
            let name = part.prefix + ([subject.name] + subject.formerNames).pick(&generator)
            let form = LawSubject.forms.pick(&generator)
            stack.change(name, of: stack.bases[part.base], to: form, isExternal: .random(using: &generator))
            return ("\(name) of base \(part.base) = \(String(describing: form))", false)
        case 4...6:
            let isFailing = Int.random(in: 0..<5, using: &generator) == 0
            let backend = stack.writable.flatMap { stack.bases[$0.base].backend }
            if isFailing { backend?.failNext(.apply) }
            var text: String?
            do { text = try subject.set(&generator) } catch let error as PreferenceError {
                same(stack.contents, before, "\(error)")
            }
            let after = stack.contents
            backend?.failNext(.apply, count: 0)
            if let text, after != before { checkSet(of: subject, to: text, on: stack, before, after, step) }
            return ("\(subject.name) = \(text ?? "nothing")", isFailing && backend != nil)
        case 7:
            subject.reset()
            if let writable = stack.writable {
                let contents = stack.contents[writable.base]
                for name in [subject.name] + subject.formerNames { same(contents[writable.prefix + name], nil) }
            } else {
                same(stack.contents, before)
            }
            return ("\(subject.name).reset()", false)
        case 8:
            stack.top.removeAll()
            if let writable = stack.writable {
                #expect(!stack.contents[writable.base].keys.contains { $0.hasPrefix(writable.prefix) })
            }
            return ("removeAll()", false)
        default:
            // Over layers that are all read-only, a transaction reads as a property does.
            let base = stack.writable == nil ? stack.parts[...] : stack.parts.drop { $0.isReadOnly }
            var texts: [String] = []
            var read: [String] = []
            do {
                try stack.top.transaction { transaction in
                    texts = []
                    for subject in subjects where Bool.random(using: &generator) {
                        texts.append("\(subject.name): \(subject.setInTransaction(&transaction, &generator))")
                    }
                    read = subjects.map { $0.readInTransaction(&transaction) }
                }
                let after = stack.contents
                same(
                    read,
                    subjects.map { $0.shown(in: after, base) },
                    "seed's step \(step), \(texts)\n\(before)\n\(after)"
                )
            } catch let error as PreferenceError {
                same(stack.contents, before, "\(error)")
            }
            return ("transaction \(texts)", false)
        }
    }

    /// Checks a set that has returned and has changed something.
    private func checkSet(
        of subject: LawSubject,
        to text: String,
        on stack: LawStack,
        _ before: [[String: PropertyListValue]],
        _ after: [[String: PropertyListValue]],
        _ step: Int
    ) {
        guard let writable = stack.writable else { return }
        var context: Comment {
            """
            step \(step), \(subject.name) = \(text) over \(stack.parts)
            \(before)
            \(after)
            """
        }
        let base = stack.parts.drop { $0.isReadOnly }
        same(subject.shown(in: after, base), text, context)
        let name = writable.prefix + subject.name
        let former = subject.formerNames.map { writable.prefix + $0 }
        for (index, contents) in after.enumerated() {
            let isOther: ((key: String, value: PropertyListValue)) -> Bool = {
                index != writable.base || $0.key != name && !former.contains($0.key)
            }
            same(contents.filter(isOther), before[index].filter(isOther), context)
        }
        for former in former { same(after[writable.base][former], nil, context) }
        // Members that this program doesn't know stay.
        if subject.name == "c", case .dictionary(let old)? = before[writable.base][name], let extra = old["extra"] {
            same(after[writable.base][name]?[member: "extra"], extra, context)
        }
    }
}

// MARK: Stores that can't be opened

extension LawTests {
    /// A store that can't be opened at first, alone or over a weaker layer, with the values that are stored in it.
    private struct ClosedStack {
        let stored: [String: PropertyListValue]
        let weaker: [String: PropertyListValue]
        let backend: FaultInjectingBackend
        let store: PreferenceStore
        let top: PreferenceStore

        init(_ generator: inout SeededGenerator) {
            func values(_ generator: inout SeededGenerator) -> [String: PropertyListValue] {
                let names = ["a", "b", "c", "d", "e", "f", "other"]
                let forms = names.map { ($0, Bool.random(using: &generator) ? LawSubject.forms.pick(&generator) : nil) }
                return Dictionary(uniqueKeysWithValues: forms).compactMapValues { $0 }
            }
            stored = values(&generator)
            weaker = Bool.random(using: &generator) ? values(&generator) : [:]
            backend = FaultInjectingBackend(stored)
            backend.failNext(.load, count: .max)
            store = PreferenceStore(backend: backend)
            store.issueHandler = { _ in }
            top = .layered([store, .inMemory(weaker).readOnly(named: "weaker")])
            top.issueHandler = { _ in }
        }

        static let parts = [0, 1].map { LawStack.Part(base: $0, prefix: "", isReadOnly: $0 == 1) }
    }

    @Test
    func storesThatCannotBeOpenedKeepTheLaws() throws {
        for seed in 0..<UInt64(rounds(5_000)) { try checkClosedStore(seed) }
    }

    private func checkClosedStore(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stack = ClosedStack(&generator)
        let subjects = Self.subjects(of: stack.top)
        let seen = subjects.map { _ in Recorder<String>() }
        let observations = zip(subjects, seen).map { subject, seen in
            subject.observe(.didSet) { seen.record("\($0) → \($1)") }
        }
        // The text that is kept by name; nil if a reset is kept.
        var kept: [String: String?] = [:]
        var wasReset: Set<String> = []
        func shown(_ subject: LawSubject) -> String {
            let below = subject.shown(in: [[:], stack.weaker], ClosedStack.parts)
            guard let text = kept[subject.name] else { return below }
            return text ?? below
        }
        for step in 0..<Int.random(in: 1...8, using: &generator) {
            let subject = subjects.pick(&generator)
            let before = subjects.map(shown)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0...2: kept.updateValue(subject.assign(&generator), forKey: subject.name)
            case 3:
                subject.reset()
                kept.updateValue(nil, forKey: subject.name)
                wasReset.insert(subject.name)
            case 4:
                #expect(throws: PreferenceError.self, "seed \(seed), step \(step)") {
                    _ = try subject.write(&generator)
                }
            default: stack.top.removeAll()
            }
            for (index, subject) in subjects.enumerated() {
                let new = shown(subject)
                let expected = before[index] == new ? [] : ["\(before[index]) → \(new)"]
                same(subject.shown(), new, "seed \(seed), step \(step), \(subject.name) of \(stack)")
                same(seen[index].drain(), expected, "seed \(seed), step \(step), \(subject.name) of \(stack)")
            }
            #expect(throws: PreferenceError.self) { try stack.top.flush() }
        }
        let before = subjects.map(shown)
        stack.backend.failNext(.load, count: 0)
        try stack.top.load()
        try stack.top.flush()
        let contents = stack.store.contents
        same(contents["other"], stack.stored["other"])
        for (index, subject) in subjects.enumerated() {
            let new = subject.shown(in: [contents, stack.weaker], ClosedStack.parts)
            let context: Comment = "seed \(seed), \(subject.name), \(kept) of \(stack)\n\(contents)"
            same(subject.shown(), new, context)
            same(seen[index].drain(), before[index] == new ? [] : ["\(before[index]) → \(new)"], context)
            let names = [subject.name] + subject.formerNames
            guard let text = kept[subject.name] else {
                for name in names { same(contents[name], stack.stored[name], context) }
                continue
            }
            for name in text == nil ? names : subject.formerNames { same(contents[name], nil, context) }
            // A value with members is merged into the stored one, unless that was removed before.
            let isMerged = subject.name == "c" && !wasReset.contains("c")
            if let text, !isMerged { same(new, text, context) }
            if isMerged, text != nil, let extra = stack.stored["c"]?[member: "extra"] {
                same(contents["c"]?[member: "extra"], extra, context)
            }
        }
        withExtendedLifetime(observations) {}
    }
}
