#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A value that supplies its own defaults for members that an older or newer version of the program didn't store.
///
/// A member of a preference's value is read from the declared default if it isn't stored. The elements of arrays, sets and dictionaries
/// have no declared default, so their members are read from `init()` if their type conforms:
///
///     struct Bookmark: EvolvingValue {
///         var title = "Untitled"
///         var isPinned = false  // not in what version 1 has stored
///     }
///     @Preference("bookmarks") var bookmarks: [Bookmark] = []
public protocol EvolvingValue: Codable, Sendable {
    /// Creates a value whose members are the defaults. May be called on any thread.
    init()
}

/// The reading of a value that another version of the program has stored.
///
/// A member that isn't stored, or that can't be decoded, is read from the default's stored form at the same place; an element that
/// can't be decoded is left out. The value is decoded by the type's own `init(from:)`, which may catch errors itself; so only a place
/// whose error ends the decoding is replaced, and then the value is decoded again. Elements of one collection are one place, so the
/// number of passes depends on the type alone.
final class EvolvingReader: @unchecked Sendable {  // used by the thread that reads
    /// The reader of the value that is being decoded.
    @TaskLocal static var current: EvolvingReader?

    /// The patterns of the places that may be replaced, with the errors there.
    private let places: [[String]: any Error]
    /// Whether only members that aren't stored are replaced.
    private let fillsOnly: Bool
    /// The place of the value that is decoded next.
    var place: EvolvingPlace
    /// The place of the error that is being thrown.
    private var failing: [String]?
    /// Further places of elements that failed, to be replaced in the same pass.
    private var alsoFailing: Set<[String]> = []
    private var ownForms: [ObjectIdentifier: PropertyListValue?] = [:]

    /// The errors of the members that were replaced and of the elements that were left out.
    private(set) var problems: [EvolvingProblem] = []
    /// The paths of the members that were replaced.
    var replaced: Set<[String]> { Set(problems.lazy.filter { $0.elements == 0 }.map(\.error.codingPath)) }
    /// The indices of the elements that were left out of each array.
    private(set) var holes: [[String]: Set<Int>] = [:]
    /// The paths of the collections whose order has no meaning, with the number of list elements that are one element of each.
    private(set) var unordered: [[String]: Int] = [:]

    private init(replacing places: [[String]: any Error], by defaultForm: PropertyListValue?, fillsOnly: Bool) {
        self.places = places
        self.fillsOnly = fillsOnly
        place = EvolvingPlace(fallback: defaultForm)
    }

    /// Returns what `decode` returns, which decodes an `Evolved` or calls `value(of:as:)`, and its reader.
    ///
    /// - Parameters:
    ///   - defaultForm: The stored form of the default, if it has one.
    ///   - fillsOnly: Whether to replace only members that aren't stored.
    static func read<Value>(
        default defaultForm: PropertyListValue?,
        fillsOnly: Bool = false,
        _ decode: (EvolvingReader) throws -> Value
    ) throws -> (Value, EvolvingReader) {
        var places: [[String]: any Error] = [:]
        while true {
            let reader = EvolvingReader(replacing: places, by: defaultForm, fillsOnly: fillsOnly)
            do {
                return (try $current.withValue(reader) { try decode(reader) }, reader)
            } catch {
                guard let place = reader.failing, places.updateValue(error, forKey: place) == nil else { throw error }
                for other in reader.alsoFailing { places[other] = error }
            }
        }
    }

    private var mayReplace: Bool { places[place.pattern] != nil }

    /// Decodes a value at the current place.
    @_semantics("optimize.sil.specialize.generic.never")
    func decode<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        if type == Locale.self || type == TimeZone.self {
            // Foundation's own decoding reads an identifier that the platform doesn't know as another one.
            return try PropertyListCoder.decode(
                type,
                from: decoder.singleValueContainer().decode(PropertyListValue.self)
            )
        }
        if NativeValue.contains(type) || type == PropertyListValue.self {
            return try decoder.singleValueContainer().decode(type)
        }
        if let collection = type as? any EvolvingCollection.Type,
            let value = try collection.evolved(from: decoder, self) as? Value
        {
            return value
        }
        let place = withOwnDefaults(of: type)
        return try type.init(from: EvolvingDecoder(base: decoder, reader: self, place: place))
    }

    /// Returns the current place, with the defaults of the type itself if nothing declares others.
    private func withOwnDefaults(of type: Any.Type) -> EvolvingPlace {
        var place = place
        if place.fallback == nil { place.fallback = ownForm(of: type) }
        return place
    }

    private func ownForm(of type: Any.Type) -> PropertyListValue? {
        if let known = ownForms[ObjectIdentifier(type)] { return known }
        var form: PropertyListValue?
        if let type = type as? any EvolvingValue.Type {
            do { form = try PropertyListCoder.encode(type.init()) } catch {}  // then it has no default
        }
        ownForms.updateValue(form, forKey: ObjectIdentifier(type))
        return form
    }

    /// Runs `body` at another place.
    func at<Result>(_ place: EvolvingPlace, _ body: () throws -> Result) rethrows -> Result {
        let outer = exchange(&self.place, with: place)
        defer { self.place = outer }
        return try body()
    }

    // MARK: Members

    /// Returns the member that `decode` decodes at the current place, or the default at the same place.
    @_semantics("optimize.sil.specialize.generic.never")
    func member<Value: Decodable>(
        _ type: Value.Type,
        isStored: Bool,
        isOptional: Bool = false,
        _ decode: () throws -> Value
    ) throws -> Value? {
        failing = nil
        do {
            return try decode()
        } catch {
            // An error without a place to replace becomes one of the enclosing member.
            guard mayReplace else {
                if failing == nil { failing = place.pattern }
                throw error
            }
            guard failing == nil, !(fillsOnly && isStored), let value = replacement(type, isOptional) else {
                throw error
            }
            if isStored { problems.append(EvolvingProblem(error, at: place.path)) }
            return value
        }
    }

    /// Returns the default at the current place, as a member of the type or as `nil` of an optional member.
    @_semantics("optimize.sil.specialize.generic.never")
    private func replacement<Value: Decodable>(_ type: Value.Type, _ isOptional: Bool) -> Value?? {
        guard let form = place.fallback ?? ownForm(of: type) else {
            if isOptional { return .some(nil) }
            return nilValue(of: type).map { .some($0) }
        }
        do {
            return try Self.$current.withValue(nil) {
                try PropertyListDecoding.decode(type, nested: form, at: CodingLocation())
            }
        } catch {
            return nil
        }
    }

    // MARK: Parts that a type opens itself

    /// Returns the decoder of the default at a place, if an earlier pass has failed there.
    func defaultDecoder(at place: EvolvingPlace, isStored: Bool) throws -> (any Decoder)? {
        guard let error = places[place.pattern], !(fillsOnly && isStored), let form = place.fallback else { return nil }
        if isStored { problems.append(EvolvingProblem(error, at: place.path)) }
        return try form.nestedDecoder()
    }

    /// Returns what `open` returns; if it throws, the next pass reads the default at the place.
    func part<Part>(at place: EvolvingPlace, _ open: () throws -> Part) throws -> Part {
        do { return try open() } catch {
            failing = places[place.pattern] == nil ? place.pattern : nil
            throw error
        }
    }

    // MARK: Elements

    /// Records that the order of the elements of the current place has no meaning.
    func recordUnordered(width: Int) { unordered[place.path] = width }

    /// Returns the value of an element, or its error, whose place is that of an element of the current place.
    func element<Value>(at key: String, _ decode: () throws -> Value) -> EvolvingElement<Value> {
        failing = nil
        do {
            return EvolvingElement(key: key, result: .success(try at(place.element(key), decode)))
        } catch {
            return EvolvingElement(key: key, result: .failure(error), failing: exchange(&failing, with: nil))
        }
    }

    /// Returns an element of a collection that its type decodes itself.
    @_semantics("optimize.sil.specialize.generic.never")
    func ownElement<Value>(at key: String, _ decode: () throws -> Value) throws -> Value {
        let element = element(at: key, decode)
        guard let failing = element.failing else { return try part(at: place) { try element.result.get() } }
        self.failing = failing
        return try element.result.get()
    }

    /// Returns the values of the elements that could be decoded; throws if the others must not be left out.
    ///
    /// - Parameter width: The number of an array's elements that are one element here; zero for the members of a dictionary.
    func readable<Value>(_ elements: [EvolvingElement<Value>], width: Int) throws -> [Value] {
        let failed = elements.filter { $0.error != nil }
        if let first = failed.first, let error = first.error {
            // The members of an element are replaced before the element is left out.
            alsoFailing = []
            for case let place? in failed.map(\.failing) where places[place] == nil { alsoFailing.insert(place) }
            failing = alsoFailing.first
            guard failing == nil else { throw error }
            guard mayReplace, !fillsOnly else {
                if !mayReplace { failing = place.pattern }
                throw error
            }
            problems.append(EvolvingProblem(error, at: place.path + [first.key], elements: failed.count))
            for element in failed where width > 0 {
                guard let index = Int(element.key) else { continue }
                let first = index - index % width
                holes[place.path, default: []].formUnion(first..<first + width)
            }
        }
        return elements.compactMap(\.value)
    }

    /// Returns the value of a stored form by the type's `PreferenceValue` conformance, leaving out elements of collections.
    func value<Value>(of stored: PropertyListValue, as type: Value.Type) throws -> Value {
        func open<Native: PreferenceValue>(_: Native.Type) throws -> Value? {
            reinterpreted(try Native(storedValue: stored), as: type)
        }
        if let collection = type as? any EvolvingCollection.Type,
            let value = try collection.evolved(of: stored, self) as? Value
        {
            return value
        }
        guard let native = type as? any PreferenceValue.Type, let value = try open(native) else {
            throw stored.mismatch(type)
        }
        return value
    }

    func nestedValue<Value>(of stored: PropertyListValue, as type: Value.Type) throws -> Value {
        if stored.isNestedNil, let absent = nilValue(of: type) { return absent }
        return try value(of: stored.unnested, as: type)
    }
}

/// A part of a value that can't be decoded, while the rest is used.
package struct EvolvingProblem {
    /// The error of the part, with its path in the value.
    let error: PreferenceError
    /// The number of elements of the collection that were left out, of which this is the first; zero for a member.
    let elements: Int

    init(_ error: any Error, at path: [String], elements: Int = 0) {
        var error = PreferenceError(.unreadable, from: error)
        error.codingPath = path
        self.error = error
        self.elements = elements
    }

    /// The replacement of the part, as a message says it.
    var outcome: String {
        switch elements {
        case 0: "the default of this member is used"
        case 1: "this element is left out"
        default: "this element and \(elements - 1) other\(elements == 2 ? "" : "s") are left out"
        }
    }
}

/// A place in a value that is being decoded.
struct EvolvingPlace {
    /// The keys that lead to the place.
    var path: [String] = []
    /// The same keys, with those of elements replaced by one that stands for all.
    var pattern: [String] = []
    /// The default's stored form at the place, if it has one.
    var fallback: PropertyListValue?

    /// Returns the place of a member.
    func inside(_ key: String) -> EvolvingPlace {
        var place = self
        place.path.append(key)
        place.pattern.append(key)
        if case .dictionary(let members) = fallback { place.fallback = members[key] } else { place.fallback = nil }
        return place
    }

    /// Returns the place of an element, for which no default is declared.
    func element(_ key: String) -> EvolvingPlace {
        EvolvingPlace(path: path + [key], pattern: pattern + ["*"])
    }
}

// MARK: Codings

extension PreferenceCoding {
    /// Returns the value that another version of the program has stored, and the reader that knows what was replaced; nil if the
    /// coding's form is its own.
    ///
    /// - Parameter fillsOnly: Whether to replace only members that aren't stored.
    func evolved(_ stored: PropertyListValue, default defaultValue: Value, fillsOnly: Bool = false) throws
        -> (Value, EvolvingReader)?
    {
        if case .native = form {
            return try EvolvingReader.read(default: CodedForm.native.part(of: defaultValue), fillsOnly: fillsOnly) {
                reader in
                try reader.value(of: stored, as: Value.self)
            }
        }
        func open<Coded: Decodable>(_: Coded.Type) throws -> (Value, EvolvingReader)? {
            let defaultForm = CodedForm.native.part(of: defaultValue)
            return try form.reading(stored, as: Evolved<Coded>.self) { decode in
                let (value, reader) = try EvolvingReader.read(default: defaultForm, fillsOnly: fillsOnly) { _ in
                    try decode().value
                }
                return reinterpreted(value, as: Value.self).map { ($0, reader) }
            }
        }
        return try (Value.self as? any Decodable.Type).flatMap { try open($0) }
    }
}

extension CodedForm {
    /// Returns what `read` returns for the decoding of a stored value, which may have another coding's form; nil if it has none that is
    /// known.
    fileprivate func reading<Value: Decodable, Result>(
        _ stored: PropertyListValue,
        as type: Value.Type,
        _ read: (() throws -> Value) throws -> Result?
    ) throws -> Result? {
        var decoder = JSONDecoder()
        switch self {
        case .own, .native: return nil
        case .json(let json): decoder = json.decoder()
        case .propertyList:
            // Text is read as another coding's only if it isn't in this one's form.
            do { return try read { try PropertyListCoder.decode(type, from: stored) } } catch {
                guard JSONText(stored) != nil else { throw error }
            }
        }
        if let text = JSONText(stored) { return try read { try decoder.decode(type, from: text.data) } }
        return try read { try PropertyListCoder.decode(type, from: stored, readingNumbersAsDates: true) }
    }
}
