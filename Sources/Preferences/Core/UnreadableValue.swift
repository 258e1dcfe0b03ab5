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

    /// Returns the same issue without what might show the value.
    func redacted(as type: Any.Type) -> UnreadableValue {
        UnreadableValue(candidate, of: node, because: cause.redacted(as: type), outcome, isSecret: true)
    }

    /// Whether a rule or a coding has used the preference.
    var isMisuse: Bool { cause.code == .misuse }

    private var layer: Layer { node.core.layers[candidate.layer] }
    /// Whether the value is a text that isn't stored, as in an argument or an environment variable.
    private var isOutside: Bool { layer.isText && candidate.layer != node.core.base }

    /// Says that the value isn't removed; only that of the writable layer, or of a file, is known to be stored.
    private var kept: String {
        candidate.layer == node.core.base || layer.location(of: nil) != nil
            ? "the stored value is kept" : "the value is kept"
    }

    /// The error to report if the read continues without the value.
    var error: PreferenceError { error(nil) }

    /// Returns the same error with another outcome than that of a read, if one is given.
    func error(_ outcome: String?) -> PreferenceError {
        saying(outcome ?? (isOutside ? self.outcome : "\(self.outcome) and \(kept)"))
    }

    /// The error to throw if the read needs the value.
    var reason: PreferenceError { saying(isOutside ? "correct or remove it" : kept) }

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
        if isOutside, let origin {
            let start = ", from the layer \"\(layer.name)\""
            if case .string(let text) = candidate.value {
                return "\(isSecret ? .redacted : "\"\(text)\"")\(start) (\(origin)), can't be used: \(cause.message)"
            }
            let isMissing = candidate.value == .boolean(true)
            return "\(origin)\(start), can't be used: \(isMissing ? "the option needs a value: " : "")\(cause.message)"
        }
        let alias = candidate.name == 0 ? "" : ", as \"\(origin ?? stored)\""
        let place = node.place(of: candidate)
        guard candidate.layer != node.core.base || candidate.name > 0 || place.location != nil else {
            return cause.message
        }
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
    /// Returns the layer of a candidate as messages name it, and its file and line, if it has any.
    fileprivate func place(of candidate: Candidate) -> (text: String, location: String?) {
        let layer = core.layers[candidate.layer]
        let location = layer.location(of: layer.key(name(of: candidate)))
        let name = candidate.layer == core.base ? "user" : layer.name
        return ("\(name) layer\(location.map { ", \($0)" } ?? "")", location)
    }

    /// Returns the issue for a person who should use the present name; nil if the program will.
    ///
    /// A person writes text and files; the program itself stores the present name with its next write.
    func useOfFormerName(_ candidate: Candidate) -> PreferenceError? {
        guard candidate.name > 0 else { return nil }
        let layer = core.layers[candidate.layer]
        let place = place(of: candidate)
        guard layer.isText || place.location != nil else { return nil }
        let former = layer.key(name(of: candidate))
        return PreferenceError(
            .deprecated,
            name: name,
            "the value is used under the former name \"\(former)\" (\(place.text)); rename it to \"\(layer.key(name))\""
        )
    }
}
