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

    /// The places that may be replaced, with `elementKey` in place of the keys of elements.
    private let places: Set<[String]>
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
    /// The indices of the elements that were left out of each array.
    private(set) var holes: [[String]: Set<Int>] = [:]
    /// The paths of the collections whose order has no meaning, with the number of list elements that are one element of each.
    private(set) var unordered: [[String]: Int] = [:]

    private static let elementKey = "*"

    private init(replacing places: Set<[String]>, by defaultForm: PropertyListValue?, fillsOnly: Bool) {
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
        var places: Set<[String]> = []
        while true {
            let reader = EvolvingReader(replacing: places, by: defaultForm, fillsOnly: fillsOnly)
            do {
                return (try $current.withValue(reader) { try decode(reader) }, reader)
            } catch {
                guard let place = reader.failing, places.insert(place).inserted else { throw error }
                places.formUnion(reader.alsoFailing)
            }
        }
    }

    private var mayReplace: Bool { places.contains(place.pattern) }

    /// Decodes a value at the current place.
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

    // MARK: Elements

    /// Records that the order of the elements of the current place has no meaning.
    func recordUnordered(width: Int) { unordered[place.path] = width }

    /// Returns the value of an element, or its error, whose place is that of an element of the current place.
    func element<Value>(at key: String, _ decode: () throws -> Value) -> EvolvingElement<Value> {
        failing = nil
        var element = place.inside(Self.elementKey)
        element.path = place.path + [key]
        element.fallback = nil
        do {
            return EvolvingElement(key: key, result: .success(try at(element, decode)))
        } catch {
            return EvolvingElement(key: key, result: .failure(error), failing: exchange(&failing, with: nil))
        }
    }

    /// Returns the values of the elements that could be decoded; throws if the others must not be left out.
    ///
    /// - Parameter width: The number of an array's elements that are one element here; zero for the members of a dictionary.
    func readable<Value>(_ elements: [EvolvingElement<Value>], width: Int) throws -> [Value] {
        let failed = elements.filter { $0.error != nil }
        if let first = failed.first, let error = first.error {
            // The members of an element are replaced before the element is left out.
            alsoFailing = Set(failed.lazy.compactMap(\.failing)).subtracting(places)
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
struct EvolvingProblem {
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
            guard let decode = form.decoding(of: stored, as: Evolved<Coded>.self) else { return nil }
            let form = CodedForm.native.part(of: defaultValue)
            let (value, reader) = try EvolvingReader.read(default: form, fillsOnly: fillsOnly) { _ in try decode().value
            }
            return reinterpreted(value, as: Value.self).map { ($0, reader) }
        }
        return try (Value.self as? any Decodable.Type).flatMap { try open($0) }
    }
}

extension CodedForm {
    /// Returns how to decode a stored value; nil if its kind isn't that of the form.
    fileprivate func decoding<Value: Decodable>(of stored: PropertyListValue, as type: Value.Type) -> (
        () throws -> Value
    )? {
        switch (self, stored) {
        case (.json(let json), .data(let data)): { try json.decoder().decode(type, from: data) }
        case (.json(let json), .string(let text)): { try json.decoder().decode(type, from: Data(text.utf8)) }
        case (.propertyList, _): { try PropertyListCoder.decode(type, from: stored) }
        default: nil
        }
    }
}
