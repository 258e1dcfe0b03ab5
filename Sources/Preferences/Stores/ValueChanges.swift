/// What is to be stored: names and their values, nil for none.
///
/// Most sets are of one name: a dictionary of it took a third of the instructions of a set in memory.
enum ValueChanges: Sendable {
    case one(String, PropertyListValue?)
    case several([String: PropertyListValue?])

    var isEmpty: Bool {
        if case .several(let changes) = self { changes.isEmpty } else { false }
    }

    var count: Int {
        if case .several(let changes) = self { changes.count } else { 1 }
    }

    /// Those of the changes for which `isIncluded` is true.
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
            // A literal would make an array first.
            var changes: [String: PropertyListValue?] = Dictionary(minimumCapacity: 1)
            changes.updateValue(value, forKey: name)
            return changes
        case .several(let changes): return changes
        }
    }

    /// The changes under longer names.
    func prefixed(_ prefix: String) -> ValueChanges {
        guard !prefix.isEmpty else { return self }
        switch self {
        case .one(let name, let value): return .one(name.isEmpty ? name : prefix + name, value)
        case .several(let changes): return .several(changes.prefixed(prefix))
        }
    }

    /// The name, where there is one.
    var onlyName: String? {
        switch self {
        case .one(let name, _): name
        case .several(let changes): changes.count == 1 ? changes.keys.first : nil
        }
    }

    // No `Sequence`: making an iterator of it took 500 instructions.
    func forEach<Failure: Error>(_ body: (String, PropertyListValue?) throws(Failure) -> Void) throws(Failure) {
        switch self {
        case .one(let name, let value): try body(name, value)
        case .several(let changes): for (name, value) in changes { try body(name, value) }
        }
    }
}

extension Dictionary where Key == String {
    /// The same values under longer names; an empty name, which is invalid, stays one.
    func prefixed(_ prefix: String) -> [String: Value] {
        reduce(into: [:]) { $0.updateValue($1.value, forKey: $1.key.isEmpty ? "" : prefix + $1.key) }
    }
}

/// A value that changes.
///
/// A class, as to copy one costs more than to make it.
final class ValueChange: Sendable {
    let name: String
    let old: PropertyListValue?
    let new: PropertyListValue?
    /// Where `old` is among the values, which saves to look the name up again.
    let index: Int?

    init(name: String, from old: PropertyListValue? = nil, at index: Int? = nil, to new: PropertyListValue?) {
        self.name = name
        self.old = old
        self.new = new
        self.index = index
    }
}

/// A list that mostly has one element, which then needs no array.
///
/// Of at most one word for elements that are references: each copy counts one reference.
enum ShortList<Element> {
    case empty
    case one(Element)
    /// Two at least.
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
            // Else the array would be copied, as there would be two of it.
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

    /// The first result that `body` gives for one element after the other.
    func firstResult<Result>(_ body: (Element) -> Result?) -> Result? {
        switch self {
        case .empty: break
        case .one(let element): return body(element)
        // Not lazily mapped, which would call `body` twice for one element.
        case .several(let elements): for element in elements { if let result = body(element) { return result } }
        }
        return nil
    }

    func dropFirst() -> ShortList {
        if case .several(let elements) = self { ShortList(Array(elements.dropFirst())) } else { .empty }
    }
}

extension ShortList: Sendable where Element: Sendable {}
extension ShortList: Equatable where Element: Equatable {}

/// A source as messages about its values know it.
protocol ValueSource: AnyObject, Sendable {
    /// The file that the values are in, if any.
    var path: String? { get }
}

/// A stored value that may answer for a name.
///
/// A class, as a change's candidates are copied a dozen times on their way to an observer.
final class StoredCandidate: Equatable, Sendable {
    let value: PropertyListValue
    /// Whether the value is text that a person wrote for a declared type.
    let isText: Bool
    /// The layer it stands in; nil for the one that takes the writes.
    let layer: String?
    /// The source of that layer; nil for a value that isn't stored yet.
    let source: (any ValueSource)?

    init(
        value: PropertyListValue,
        isText: Bool = false,
        layer: String? = nil,
        source: (any ValueSource)? = nil
    ) {
        self.value = value
        self.isText = isText
        self.layer = layer
        self.source = source
    }

    static func == (left: StoredCandidate, right: StoredCandidate) -> Bool {
        left.value == right.value && left.isText == right.isText && left.layer == right.layer
    }

    /// Returns a message about the value with the layer and the file that it is in, if it isn't that of a store in memory.
    fileprivate func located(_ message: String, isSecret: Bool) -> String {
        if isText, let layer, case .string(let text) = value {
            let shown = isSecret ? .redacted : "\"\(text)\""
            return "\(shown), from the layer \"\(layer)\", can't be taken: \(message)"
        }
        let path = source?.path
        guard layer != nil || path != nil else { return message }
        return "\(message) (\(layer ?? "user") layer\(path.map { ", \($0)" } ?? ""))"
    }
}

/// A stored value that can't be read, or that the declaration doesn't allow.
struct UnreadableValue {
    private let candidate: StoredCandidate
    private var cause: PreferencesError
    private let isDefaultUsed: Bool
    private var isSecret: Bool
    let key: Key

    /// Creates the issue that a value can't be read, so that the default or the next layer's value is used.
    ///
    /// - Parameters:
    ///   - cause: The error of reading it, which for a secret has no value already.
    ///   - isSecret: Whether the value isn't shown.
    init(_ candidate: StoredCandidate, because cause: PreferencesError, isDefaultUsed: Bool, isSecret: Bool) {
        self.candidate = candidate
        self.cause = cause
        self.isDefaultUsed = isDefaultUsed
        self.isSecret = isSecret
        key = Key(of: cause)
    }

    var value: PropertyListValue { candidate.value }
    var source: (any ValueSource)? { candidate.source }

    /// The error that is reported by a read that goes on without the value.
    var error: PreferencesError {
        let used = isDefaultUsed ? "the default" : "the next layer's value"
        return saying("\(used) is used and the stored value is kept")
    }

    /// The error that is thrown by a read that needs the value.
    var reason: PreferencesError { saying("the stored value is kept") }

    private func saying(_ end: String) -> PreferencesError {
        PreferencesError(
            cause.code,
            name: cause.name,
            "\(candidate.located(cause.message, isSecret: isSecret)); \(end)",
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

    /// The part of an error that is the same for each declaration and each store that reads the value.
    struct Key: Hashable {
        private let code: PreferencesError.Code
        private let path: [String]
        private let message: String

        init(of error: PreferencesError) {
            code = error.code
            // A view may declare a range of its own each time.
            let isOfRule = code == .invalid
            path = isOfRule ? [] : error.codingPath
            message = isOfRule ? "" : error.message
        }
    }
}

/// What may answer for a name, the strongest first.
typealias StoredCandidates = ShortList<StoredCandidate>

extension ShortList<StoredCandidate> {
    init(_ value: PropertyListValue?) {
        self.init()
        if let value { append(StoredCandidate(value: value)) }
    }

    /// The first that `canRead` says yes to.
    func first(where canRead: (StoredCandidate) -> Bool) -> StoredCandidate? {
        firstResult { canRead($0) ? $0 : nil }
    }
}
