/// The problems of a read of a preference's stored values.
struct ReadOutcome {
    /// The index of the candidate that is used; nil if none can be.
    var index: Int?
    /// The candidates before it, which can't be read.
    var problems: [UnreadableValue] = []
    /// The parts of it that can't be read.
    var parts: [UnreadableValue] = []

    func used(in candidates: [Candidate]) -> Candidate? { index.map { candidates[$0] } }

    /// Whether the strongest candidate is used, or there is none.
    func isFirst(of candidates: [Candidate]) -> Bool { index == (candidates.isEmpty ? nil : 0) }

    /// The error for callers that must not use the default in place of an unreadable value.
    var failure: PreferenceError? { index == nil ? problems.first?.reason : nil }
}

/// A stored value that can't be read, or that the declaration doesn't allow.
struct UnreadableValue {
    let candidate: Candidate
    private let node: Node
    private let cause: PreferenceError
    /// The replacement of the value, as a message says it.
    var outcome: String
    private let isSecret: Bool
    let key: Key

    /// Creates the issue for a value that can't be read, or a part of it.
    ///
    /// - Parameters:
    ///   - cause: The error of reading it. For a secret, it must not contain the value.
    ///   - outcome: The replacement, as the message says it.
    ///   - isSecret: Whether the value must not be shown.
    init(
        _ candidate: Candidate,
        of node: Node,
        because cause: PreferenceError,
        _ outcome: String,
        isSecret: Bool
    ) {
        self.candidate = candidate
        self.node = node
        self.cause = cause
        self.outcome = outcome
        self.isSecret = isSecret
        key = Key(of: cause)
    }

    private var layer: Layer { node.core.layers[candidate.layer] }
    /// Whether the value is a text that isn't stored, as in an argument or an environment variable.
    private var isOutside: Bool { layer.isText && candidate.layer != node.core.base }

    /// The error to report if the read continues without the value.
    var error: PreferenceError {
        saying(isOutside ? outcome : "\(outcome) and the value is kept")
    }

    /// The error to throw if the read needs the value.
    var reason: PreferenceError { saying(isOutside ? "correct or remove it" : "the value is kept") }

    private func saying(_ end: String) -> PreferenceError {
        PreferenceError(
            cause.code,
            name: cause.name,
            "\(located); \(end)",
            codingPath: cause.codingPath,
            cause: cause.cause
        )
    }

    /// The message with the value's layer, and its option, variable or name, unless it is in the writable layer.
    private var located: String {
        let stored = node.name(of: candidate)
        let origin = layer.origin(of: stored)
        if isOutside, case .string(let text) = candidate.value {
            let shown = isSecret ? .redacted : "\"\(text)\""
            let place = origin.map { " (\($0))" } ?? ""
            return "\(shown), from the layer \"\(layer.name)\"\(place), can't be used: \(cause.message)"
        }
        let alias = candidate.name == 0 ? "" : ", as \"\(origin ?? stored)\""
        let place = node.core.place(of: candidate, layer.key(stored))
        guard candidate.layer != node.core.base || candidate.name > 0 || place.hasFile else { return cause.message }
        return "\(cause.message) (\(place.text)\(alias))"
    }

    /// The part of an error that is the same in all declarations and stores that read the value.
    struct Key: Equatable {
        private let code: PreferenceError.Code
        private let path: [String]
        private let message: String

        init(of error: PreferenceError) {
            code = error.code
            // Each declaration in a view may create its own range.
            let isOfRule = code == .invalid
            path = isOfRule ? [] : error.codingPath
            message = isOfRule ? "" : error.message
        }
    }
}

extension Node {
    /// Returns the issue for a person who should use the present name; nil if the program will.
    ///
    /// A person writes text and files; the program itself stores the present name with its next write.
    func useOfFormerName(_ candidate: Candidate) -> PreferenceError? {
        guard candidate.name > 0 else { return nil }
        let layer = core.layers[candidate.layer]
        let former = layer.key(name(of: candidate))
        let place = core.place(of: candidate, former)
        guard layer.isText || place.hasFile else { return nil }
        return PreferenceError(
            .deprecated,
            name: name,
            "the value is used under the former name \"\(former)\" (\(place.text)); rename it to \"\(layer.key(name))\""
        )
    }
}

extension StoreCore {
    /// Returns the layer of a value as messages name it, with its file and line, and whether it has a file.
    func place(of candidate: Candidate, _ key: String) -> (text: String, hasFile: Bool) {
        let layer = layers[candidate.layer]
        let file = layer.source.location(of: key)
        return ("\(candidate.layer == base ? "user" : layer.name) layer\(file.map { ", \($0)" } ?? "")", file != nil)
    }
}
