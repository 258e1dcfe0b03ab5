import FileTestSupport
import Preferences
import PreferencesTesting

/// The laws over stores that can't be opened at first.
enum ClosedStores {
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
                let forms = names.map { ($0, Bool.random(using: &generator) ? Subject.forms.pick(&generator) : nil) }
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

        static let parts = [0, 1].map { Stack.Part(base: $0, prefix: "", isReadOnly: $0 == 1) }
    }

    static func check(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stack = ClosedStack(&generator)
        let subjects = Subject.all(in: stack.top)
        let seen = subjects.map { _ in SeenChanges() }
        let observations = zip(subjects, seen).map { $0.observe(.didSet, $1) }
        // The text that is kept by name; nil if a reset is kept.
        var kept: [String: String?] = [:]
        func shown(_ subject: Subject) -> String {
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
            case 4:
                try requireError("step \(step), a write of \(subject.name) to \(stack)") {
                    _ = try subject.write(&generator)
                }
            default: stack.top.removeAll()
            }
            for (index, subject) in subjects.enumerated() {
                let new = shown(subject)
                try require(subject.shown(), equals: new, "step \(step), \(subject.name) of \(stack)")
                try seen[index].requireOnly(before[index], new, "step \(step), \(subject.name) of \(stack)")
            }
            try requireError("step \(step), a flush of \(stack)") { try stack.top.flush() }
        }
        let before = subjects.map(shown)
        stack.backend.failNext(.load, count: 0)
        try stack.top.load()
        try stack.top.flush()
        let contents = stack.store.contents
        try require(contents["other"], equals: stack.stored["other"], "\(kept) of \(stack)")
        for (index, subject) in subjects.enumerated() {
            let new = subject.shown(in: [contents, stack.weaker], ClosedStack.parts)
            var context: String { "\(subject.name), \(kept) of \(stack)\n\(contents)" }
            try require(subject.shown(), equals: new, context)
            try seen[index].requireOnly(before[index], new, context)
            let names = [subject.name] + subject.formerNames
            guard let text = kept[subject.name] else {
                for name in names { try require(contents[name], equals: stack.stored[name], context) }
                continue
            }
            for name in text == nil ? names : subject.formerNames { try require(contents[name], equals: nil, context) }
            if let text { try require(new, equals: text, context) }
        }
        withExtendedLifetime(observations) {}
    }

    /// Checks that a call throws a `PreferenceError`.
    private static func requireError(_ context: @autoclosure () -> String, _ call: () throws -> Void) throws {
        do { try call() } catch is PreferenceError { return }
        throw Violation(description: context() + " doesn't throw")
    }
}
