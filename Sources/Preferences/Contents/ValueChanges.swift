/// The changes to store: names and their values, nil to remove.
///
/// Most sets have one name: a dictionary for it took a third of the instructions of a set in memory.
package enum ValueChanges: Sendable {
    case one(String, PropertyListValue?)
    case several([String: PropertyListValue?])

    var isEmpty: Bool {
        if case .several(let changes) = self { changes.isEmpty } else { false }
    }

    var count: Int {
        if case .several(let changes) = self { changes.count } else { 1 }
    }

    /// Returns the changes for which `isIncluded` returns true.
    func filter(_ isIncluded: (String, PropertyListValue?) -> Bool) -> ValueChanges {
        switch self {
        case .one(let name, let value): isIncluded(name, value) ? self : .several([:])
        case .several(let changes):
            changes.allSatisfy(isIncluded) ? self : .several(changes.filter { isIncluded($0.key, $0.value) })
        }
    }

    var dictionary: [String: PropertyListValue?] {
        switch self {
        case .one(let name, let value):
            // A dictionary literal would first create an array.
            var changes: [String: PropertyListValue?] = Dictionary(minimumCapacity: 1)
            changes.updateValue(value, forKey: name)
            return changes
        case .several(let changes): return changes
        }
    }

    /// Returns the changes with a prefix before each name.
    func prefixed(_ prefix: String) -> ValueChanges {
        guard !prefix.isEmpty else { return self }
        switch self {
        case .one(let name, let value): return .one(name.isEmpty ? name : prefix + name, value)
        case .several(let changes): return .several(changes.prefixed(prefix))
        }
    }

    /// The name, if there is exactly one.
    var onlyName: String? {
        switch self {
        case .one(let name, _): name
        case .several(let changes): changes.count == 1 ? changes.keys.first : nil
        }
    }

    // Not a `Sequence`: creating an iterator of it took 500 instructions.
    func forEach<Failure: Error>(_ body: (String, PropertyListValue?) throws(Failure) -> Void) throws(Failure) {
        switch self {
        case .one(let name, let value): try body(name, value)
        case .several(let changes): for (name, value) in changes { try body(name, value) }
        }
    }
}

extension Dictionary where Key == String {
    /// Returns the values with a prefix before each name; an empty name, which is invalid, stays empty.
    func prefixed(_ prefix: String) -> [String: Value] {
        reduce(into: [:]) { $0.updateValue($1.value, forKey: $1.key.isEmpty ? "" : prefix + $1.key) }
    }
}

/// A value that changes.
///
/// A class, because copying a struct of these costs more than creating an object.
final class ValueChange: Sendable {
    let name: String
    let old: PropertyListValue?
    let new: PropertyListValue?
    /// The index of `old` among the values, which saves another lookup of the name.
    let index: Int?

    init(name: String, from old: PropertyListValue? = nil, at index: Int? = nil, to new: PropertyListValue?) {
        self.name = name
        self.old = old
        self.new = new
        self.index = index
    }
}

/// A list that usually has one element, which needs no array then.
///
/// It takes one word if its elements are references: each copy counts only one reference.
package enum ShortList<Element> {
    case empty
    case one(Element)
    /// At least two elements.
    case several([Element])

    init() { self = .empty }

    private init(_ elements: [Element]) {
        switch elements.count {
        case 0: self = .empty
        case 1: self = .one(elements[0])
        default: self = .several(elements)
        }
    }

    var first: Element? {
        switch self {
        case .empty: nil
        case .one(let element): element
        case .several(let elements): elements.first
        }
    }

    var isEmpty: Bool {
        if case .empty = self { true } else { false }
    }

    var count: Int {
        switch self {
        case .empty: 0
        case .one: 1
        case .several(let elements): elements.count
        }
    }

    mutating func append(_ element: Element) {
        switch self {
        case .empty: self = .one(element)
        case .one(let first): self = .several([first, element])
        case .several(var elements):
            // Otherwise there would be two references to the array, and appending would copy it.
            self = .empty
            elements.append(element)
            self = .several(elements)
        }
    }

    func forEach(_ body: (Element) -> Void) {
        switch self {
        case .empty: break
        case .one(let element): body(element)
        case .several(let elements): for element in elements { body(element) }
        }
    }

    /// Returns the first result of `body` that isn't nil, called with one element after another.
    func firstResult<Result>(_ body: (Element) -> Result?) -> Result? {
        switch self {
        case .empty: break
        case .one(let element): return body(element)
        // Not by a lazy map, which would call `body` twice for one element.
        case .several(let elements): for element in elements { if let result = body(element) { return result } }
        }
        return nil
    }

    func filter(_ isIncluded: (Element) -> Bool) -> ShortList {
        switch self {
        case .empty: .empty
        case .one(let element): isIncluded(element) ? self : .empty
        case .several(let elements): ShortList(elements.filter(isIncluded))
        }
    }

    func dropFirst() -> ShortList {
        if case .several(let elements) = self { ShortList(Array(elements.dropFirst())) } else { .empty }
    }
}

extension ShortList<ValueChange> {
    /// The new values by name.
    var dictionary: [String: PropertyListValue?] {
        var changes: [String: PropertyListValue?] = [:]
        forEach { changes.updateValue($0.new, forKey: $0.name) }
        return changes
    }
}

extension ShortList: Sendable where Element: Sendable {}
extension ShortList: Equatable where Element: Equatable {}

/// The source of a value, for messages about it.
protocol ValueSource: AnyObject, Sendable {
    /// Returns the path of the file with the value of a name, or of any name; `nil` if it isn't in a file.
    func path(of name: String?) -> String?
    /// Returns the number of the file's line that last set a name, from 1; reads the file.
    func line(of name: String) -> Int?
    /// The names whose text is a word of the command line that may be an argument for the program.
    var words: Set<String> { get }
}

extension ValueSource {
    /// Returns the file and the line of a name's value, for messages; `nil` if it isn't in a file.
    func location(of name: String?) -> String? {
        guard let path = path(of: name) else { return nil }
        return path + (name.flatMap { line(of: $0) }.map { ", line \($0)" } ?? "")
    }
}

/// A stored value that may be used for a name.
///
/// A class, because a change's candidates are copied a dozen times on their way to an observer.
package final class StoredCandidate: Equatable, Sendable {
    let value: PropertyListValue
    /// Whether the value is text written by a person for a declared type.
    let isText: Bool
    /// The layer of the value; nil for the writable layer.
    let layer: PreferenceSource?
    /// The source of that layer; nil for a value that isn't stored yet.
    let source: (any ValueSource)?
    /// The former name of the preference that the value is stored under; nil for its present name.
    let former: FormerName?
    /// The option or variable that has a text, or the name as the source spells it; nil if that is the preference's.
    let origin: String?

    /// A former name that a value is stored under.
    struct FormerName: Sendable {
        let name: String
        /// The name as the layer spells it, such as that of a variable.
        let spelled: String
        /// The present name as the layer spells it.
        let present: String
    }

    init(
        value: PropertyListValue,
        isText: Bool = false,
        layer: PreferenceSource? = nil,
        source: (any ValueSource)? = nil,
        former: FormerName? = nil,
        origin: String? = nil
    ) {
        self.value = value
        self.isText = isText
        self.layer = layer
        self.source = source
        self.former = former
        self.origin = origin
    }

    /// Returns whether both give the same value; a value that moves to the present name stays the same.
    package static func == (left: StoredCandidate, right: StoredCandidate) -> Bool {
        left.value == right.value && left.isText == right.isText && left.layer == right.layer
    }

    /// The former name of the preference that the value is stored under; nil for its present name.
    var formerName: String? { former?.name }

    /// Whether the value is a text that isn't stored, as in an argument or an environment variable.
    fileprivate var isOutside: Bool { isText && layer != nil }

    /// Says that the value isn't removed; only that of the writable layer, or of a file, is known to be stored.
    fileprivate var kept: String {
        layer == nil || source?.path(of: nil) != nil ? "the stored value is kept" : "the value is kept"
    }

    /// Whether the text is the word behind an option, which may be an argument for the program.
    var isWord: Bool {
        guard let source, !source.words.isEmpty, let origin else { return false }
        return source.words.contains(String(origin.drop { $0 == "-" }))
    }

    /// Returns a message about the value of a preference with its layer, and its option, variable or file, unless it is in the writable
    /// layer without a file.
    fileprivate func located(_ message: String, of name: String?, isSecret: Bool) -> String {
        if isOutside, let layer, case .string(let text) = value {
            let shown = isSecret ? .redacted : "\"\(text)\""
            let origin = origin.map { " (\($0))" } ?? ""
            return "\(shown), from the layer \"\(layer.name)\"\(origin), can't be used: \(message)"
        }
        if isOutside, let layer, let origin {
            let message = value == .boolean(true) ? "the option needs a value: \(message)" : message
            return "\(origin), from the layer \"\(layer.name)\", can't be used: \(message)"
        }
        let alias = former.map { ", as \"\($0.spelled)\"" } ?? ""
        let spelled = former?.spelled ?? origin ?? name
        guard layer != nil || source?.path(of: spelled) != nil || former != nil else { return message }
        return "\(message) (\(place(of: spelled))\(alias))"
    }

    /// Returns the layer of the value, with its file, as messages name it.
    private func place(of spelled: String?) -> String {
        "\(layer?.name ?? "user") layer\(source?.location(of: spelled).map { ", \($0)" } ?? "")"
    }

    /// Returns the issue for a person who should use the present name, or nil if the program will.
    ///
    /// A person writes text and files; the program itself stores the present name with its next write.
    func useOfFormerName(of name: String) -> PreferenceError? {
        guard let former, isText || source?.path(of: former.spelled) != nil else { return nil }
        return PreferenceError(
            .deprecated,
            name: name,
            "the value is used under the former name \"\(former.spelled)\" (\(place(of: former.spelled))); rename it to \"\(former.present)\""
        )
    }
}

/// A stored value that can't be read, or that the declaration doesn't allow.
struct UnreadableValue {
    private let candidate: StoredCandidate
    private var cause: PreferenceError
    /// The replacement of the value, as a message says it.
    private let outcome: String
    private var isSecret: Bool
    let key: Key

    /// Creates the issue for a value that can't be read, or a part of it.
    ///
    /// - Parameters:
    ///   - cause: The error of reading it. For a secret, it must not contain the value.
    ///   - outcome: The replacement, as the message says it.
    ///   - isSecret: Whether the value must not be shown.
    init(_ candidate: StoredCandidate, because cause: PreferenceError, _ outcome: String, isSecret: Bool) {
        self.candidate = candidate
        self.cause = cause
        self.outcome = outcome
        self.isSecret = isSecret
        key = Key(of: cause)
    }

    var value: PropertyListValue { candidate.value }
    var source: (any ValueSource)? { candidate.source }
    /// The former name that the value is stored under, if any.
    var formerName: String? { candidate.formerName }

    /// The error to report if the read continues without the value.
    var error: PreferenceError { error(nil) }

    /// Returns the same error with another outcome than that of a read, if one is given.
    func error(_ outcome: String?) -> PreferenceError {
        let text = outcome ?? self.outcome
        return saying(candidate.isOutside || outcome != nil ? text : "\(text) and \(candidate.kept)")
    }

    /// The error to throw if the read needs the value.
    var reason: PreferenceError { saying(candidate.isOutside ? "correct or remove it" : candidate.kept) }

    private func saying(_ end: String) -> PreferenceError {
        PreferenceError(
            cause.code,
            name: cause.name,
            "\(candidate.located(cause.message, of: cause.name, isSecret: isSecret)); \(end)",
            codingPath: cause.codingPath,
            cause: cause.cause
        )
    }

    /// Returns the same issue with errors that don't show the value.
    func redacted(as type: Any.Type) -> UnreadableValue {
        var redacted = self
        (redacted.cause, redacted.isSecret) = (cause.redacted(as: type), true)
        return redacted
    }

    /// The part of an error that is the same in all declarations and stores that read the value.
    struct Key: Hashable {
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

/// The stored values that may be used for a name, strongest first.
package typealias StoredCandidates = ShortList<StoredCandidate>

extension ShortList<StoredCandidate> {
    init(_ value: PropertyListValue?) {
        self.init()
        if let value { append(StoredCandidate(value: value)) }
    }

    /// Returns the first candidate for which `canRead` returns true.
    func first(where canRead: (StoredCandidate) -> Bool) -> StoredCandidate? {
        firstResult { canRead($0) ? $0 : nil }
    }
}

extension [String: PropertyListValue] {
    /// Returns the changes that lead to other values.
    package func changes(to new: Self) -> [String: PropertyListValue?] {
        var changes: [String: PropertyListValue?] = [:]
        for name in Set(keys).union(new.keys) where self[name] != new[name] {
            changes.updateValue(new[name], forKey: name)
        }
        return changes
    }
}
