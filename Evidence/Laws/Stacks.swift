import FileTestSupport
import Observation
import Preferences

/// The laws over stacks of layers and sequences of calls.
enum Stacks {
    static func check(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let stack = Stack(&generator)
        let subjects = Subject.all(in: stack.top)
        let seen = subjects.map { _ in (didSet: SeenChanges(), willSet: SeenChanges()) }
        let observations = zip(subjects, seen).flatMap { subject, seen in
            [subject.observe(.didSet, seen.didSet), subject.observe(.willSet, seen.willSet)]
        }
        var iterators = subjects.map { $0.updates() }
        for index in subjects.indices { _ = try await iterators[index].next() }
        for step in 0..<24 {
            let before = stack.contents
            let shown = subjects.map { $0.shown(in: before, stack.parts) }
            for subject in subjects { await subject.settle() }
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
                var context: String {
                    """
                    step \(step), \(what), "\(subject.name)" over \(stack.parts)
                    \(before)
                    \(after)
                    """
                }
                let (old, new) = (shown[index], subject.shown(in: after, stack.parts))
                try require(subject.shown(), equals: new, context)
                try seen[index].didSet.requireOnly(old, new, context)
                if isFailing {
                    // A set that then fails was announced as well.
                    _ = seen[index].willSet.drain()
                } else {
                    try seen[index].willSet.requireOnly(old, new, context)
                }
                if old == new {
                    // Equal stored forms never notify Observation; others may, at most once.
                    let isSame = subject.forms(in: before, stack.parts) == subject.forms(in: after, stack.parts)
                    try require((0...(isSame ? 0 : 1)).contains(notified[index].value), equals: true, context)
                } else {
                    // An element that came without a change, or twice, would stand in front.
                    let element = try await iterators[index].next() as? String
                    try require(element, equals: new, context)
                    // The main actor may be sending an earlier signal, and then sends this one, too.
                    for _ in 0..<100_000 where notified[index].value == 0 {
                        try await Task.sleep(for: .microseconds(100))
                    }
                    try require(notified[index].value, equals: 1, context)
                }
            }
        }
        withExtendedLifetime(observations) {}
    }

    /// Makes a change, checks the laws for that change alone, and returns its description.
    private static func perform(
        _ step: Int,
        on stack: Stack,
        _ subjects: [Subject],
        _ before: [[String: PropertyListValue]],
        _ generator: inout SeededGenerator
    ) throws -> (String, isFailing: Bool) {
        let subject = subjects.pick(&generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...3:
            let part = stack.parts.pick(&generator)
            let name = part.prefix + ([subject.name] + subject.formerNames).pick(&generator)
            let form = Subject.forms.pick(&generator)
            stack.change(name, of: stack.bases[part.base], to: form, isExternal: .random(using: &generator))
            return ("\(name) of base \(part.base) = \(String(describing: form))", false)
        case 4...6:
            let isFailing = Int.random(in: 0..<5, using: &generator) == 0
            let base = stack.writable.map { stack.bases[$0.base] }
            if isFailing { base?.setFails(true) }
            var text: String?
            do { text = try subject.set(&generator) } catch let error as PreferenceError {
                try require(stack.contents, equals: before, "step \(step), \(error)")
            }
            let after = stack.contents
            base?.setFails(false)
            if let text, after != before { try checkSet(of: subject, to: text, on: stack, before, after, step) }
            return ("\(subject.name) = \(text ?? "nothing")", isFailing && base?.canFail ?? false)
        case 7:
            subject.reset()
            let what = "\(subject.name).reset()"
            if let writable = stack.writable {
                let contents = stack.contents[writable.base]
                for name in [subject.name] + subject.formerNames {
                    try require(contents[writable.prefix + name], equals: nil, "step \(step), \(what)")
                }
            } else {
                try require(stack.contents, equals: before, "step \(step), \(what)")
            }
            return (what, false)
        case 8:
            stack.top.removeAll()
            if let writable = stack.writable {
                let names = stack.contents[writable.base].keys.filter { $0.hasPrefix(writable.prefix) }
                try require(names, equals: [], "step \(step), removeAll()")
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
                let expected = subjects.map { $0.shown(in: after, base) }
                try require(read, equals: expected, "step \(step), transaction \(texts)\n\(before)\n\(after)")
            } catch let error as PreferenceError {
                try require(stack.contents, equals: before, "step \(step), \(error)")
            }
            return ("transaction \(texts)", false)
        }
    }

    /// Checks a set that has returned and has changed something.
    private static func checkSet(
        of subject: Subject,
        to text: String,
        on stack: Stack,
        _ before: [[String: PropertyListValue]],
        _ after: [[String: PropertyListValue]],
        _ step: Int
    ) throws(Violation) {
        guard let writable = stack.writable else { return }
        var context: String {
            """
            step \(step), \(subject.name) = \(text) over \(stack.parts)
            \(before)
            \(after)
            """
        }
        let base = stack.parts.drop { $0.isReadOnly }
        try require(subject.shown(in: after, base), equals: text, context)
        let name = writable.prefix + subject.name
        let former = subject.formerNames.map { writable.prefix + $0 }
        for (index, contents) in after.enumerated() {
            let isOther: ((key: String, value: PropertyListValue)) -> Bool = {
                index != writable.base || $0.key != name && !former.contains($0.key)
            }
            try require(contents.filter(isOther), equals: before[index].filter(isOther), context)
        }
        for former in former { try require(after[writable.base][former], equals: nil, context) }
        // Members that this program doesn't know stay.
        if subject.name == "c", case .dictionary(let old)? = before[writable.base][name], let extra = old["extra"] {
            try require(after[writable.base][name]?[member: "extra"], equals: extra, context)
        }
    }
}
