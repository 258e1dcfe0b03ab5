#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The error of a preference that could not be read or written, with a message that says what to do.
///
///     do {
///         try preferences.$volume.write(11)
///     } catch PreferenceError.managed {
///         showManagedNotice()
///     }
///
/// <doc:Troubleshooting> lists all messages.
@dynamicMemberLookup
public struct PreferenceError: Error, Sendable {
    /// The kind of an error, to compare with. Later versions may add codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, such as `unreadable`.
        public let description: String
        private init(_ description: String) { self.description = description }

        /// The stored value can't be decoded as the declared type.
        public static let unreadable = Code("unreadable")
        /// The value is rejected by the preference's rule.
        public static let invalid = Code("invalid")
        /// The value can't be encoded as a stored value; nothing was changed.
        public static let unencodable = Code("unencodable")
        /// The name of a preference or suite can't be used.
        public static let invalidName = Code("invalidName")
        /// The value is managed by an administrator and can't be changed; nothing was changed.
        public static let managed = Code("managed")
        /// A deprecated preference, or the former name of one, is used. Reported, never thrown.
        public static let deprecated = Code("deprecated")
        /// The value was stored, but the value of a layer with higher precedence is read. Reported, never thrown.
        public static let hidden = Code("hidden")
        /// The store can't be written; nothing was changed.
        public static let readOnly = Code("readOnly")
        /// The store's server doesn't allow the user to read or write this, or the file or its folder belongs to another user; nothing
        /// was changed.
        public static let notPermitted = Code("notPermitted")
        /// A transaction read or set a preference of another store.
        public static let wrongStore = Code("wrongStore")
        /// The values that an update or transaction had read kept changing; nothing was changed.
        public static let conflict = Code("conflict")
        /// Another process held the file's lock too long; nothing was changed.
        public static let busy = Code("busy")
        /// The store could not be read or written; nothing was changed.
        public static let unavailable = Code("unavailable")
        /// The server has no space left; nothing was changed.
        public static let noSpace = Code("noSpace")
        /// The value is set and readable, but might not survive a loss of power.
        public static let notDurable = Code("notDurable")
        /// It is unknown whether the value was stored; read it again.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// A part of the file can't be read; it is skipped and kept.
        public static let damaged = Code("damaged")
        /// The file has a format that this version doesn't support.
        public static let unknownFormat = Code("unknownFormat")
        /// The account changed, and the store now has the values of the new one.
        public static let accountChanged = Code("accountChanged")
        /// The value, its nesting or its name exceeds a limit of the store.
        public static let tooLarge = Code("tooLarge")
        /// Observers kept setting the values that they observe.
        public static let feedbackLoop = Code("feedbackLoop")
        /// The store's data has a newer version than this program's migrations.
        public static let newerVersion = Code("newerVersion")
        /// The library is used incorrectly; the message says how.
        public static let misuse = Code("misuse")
    }

    /// The kind of the error.
    public let code: Code
    /// The name of the preference, if the error concerns one.
    public var name: String?
    /// A description of what happened, what was kept, and what to do.
    public let message: String
    /// The path of keys and indices inside the value, outermost first; empty for the value itself.
    public var codingPath: [String]
    /// The error that caused this one, if any.
    public let cause: (any Error)?
    /// The line of a file that can't be read, for the tool `prefs`; not in the message, because its text may contain a secret.
    package internal(set) var damagedLine: (path: String, number: Int)?
    /// Whether the store could not be opened, so that forms that can't throw keep the value.
    var isOfOpening = false

    /// The same error, as that of a store that could not be opened.
    var ofOpening: PreferenceError {
        var error = self
        error.isOfOpening = true
        return error
    }

    /// Creates an error, for a custom backend or coding.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - name: The name of the preference. The library adds it to an error of a coding.
    ///   - message: A text that says what happened and what to do, without a full stop at the end.
    ///   - codingPath: The path of keys and indices inside the value, outermost first; empty for the value itself.
    ///   - cause: The error that caused this one, which `description` shows in parentheses.
    public init(
        _ code: Code,
        name: String? = nil,
        _ message: String,
        codingPath: [String] = [],
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.codingPath = codingPath
        self.cause = cause
    }
}

extension PreferenceError {
    /// Returns the error with the preference's name, unless it has one.
    package func named(_ name: String) -> PreferenceError { of(self.name ?? name) }

    /// Returns the error with the name of a preference.
    func of(_ name: String) -> PreferenceError {
        var error = self
        error.name = name
        return error
    }
}

extension PreferenceError: CustomStringConvertible {
    /// The name, the path, the message and the cause in one line, with control characters escaped.
    public var description: String {
        var text = ""
        if let name { text += "preference \"\(name)\"" }
        if !codingPath.isEmpty { text += (text.isEmpty ? "" : " ") + "at \(codingPath.joined(separator: "."))" }
        if !text.isEmpty { text += ": " }
        text += message
        if let cause { text += " (\(cause))" }
        return text.escapingControls()
    }
}

extension PreferenceError: LocalizedError {
    /// The same text as `description`, in English.
    public var errorDescription: String? { description }
}

extension PreferenceError {
    /// Returns a code by its name: `PreferenceError.unreadable` is `PreferenceError.Code.unreadable`.
    ///
    /// So a pattern needs no `error.code`, as in `catch PreferenceError.unreadable`.
    public static subscript(dynamicMember code: KeyPath<Code.Type, Code>) -> Code { Code.self[keyPath: code] }
}

extension PreferenceError.Code {
    /// Returns whether an error is a `PreferenceError` of the code, for `catch` and `case`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? PreferenceError)?.code == code
    }
}

// MARK: Errors of coders

extension PreferenceError {
    /// Creates an error from that of a coder or of a type's own code.
    package init(_ code: Code, from error: any Error) {
        switch error {
        case let error as PreferenceError: self = error
        case DecodingError.keyNotFound(let key, let context):
            self.init(code, "missing key \"\(key.stringValue)\"", context)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(code, context.debugDescription, context)
        case EncodingError.invalidValue(_, let context):
            self.init(
                code,
                Self.clause(context.debugDescription),
                codingPath: context.codingPath.map(\.component),
                cause: context.underlyingError
            )
        default: self.init(code, "the type's own coding failed", cause: error)
        }
    }

    private init(_ code: Code, _ message: String, _ context: DecodingError.Context) {
        self.init(
            code,
            Self.clause(message),
            codingPath: context.codingPath.map(\.component),
            cause: context.underlyingError
        )
    }

    /// Returns a coder's sentence without its full stop, as part of a longer one.
    private static func clause(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }

    /// Returns the result of `body`; adds `component` to the coding path of its errors.
    @inline(__always)
    static func inside<Result>(
        _ component: @autoclosure () -> String,
        _ code: Code,
        _ body: () throws -> Result
    ) throws(PreferenceError) -> Result {
        do {
            return try body()
        } catch {
            var error = PreferenceError(code, from: error)
            error.codingPath.insert(component(), at: 0)
            throw error
        }
    }
}

extension CodingKey {
    /// The key in the form of an error's coding path; Foundation's coders name an index "Index 0".
    fileprivate var component: String {
        if let intValue, stringValue == "Index \(intValue)" { return intValue.description }
        return stringValue
    }
}

// MARK: Secrets

extension String {
    /// The text that descriptions and errors show in place of a secret's value.
    package static var redacted: String { "<redacted>" }
}

extension PreferenceError {
    /// The reason for which a rule rejects a secret; the reason of the rule itself contains the value or the bounds.
    static var redactedReason: String { "\(String.redacted) is rejected by the preference's rule" }

    /// Returns the error of reading a secret without the parts that may show the value: the message, the coding path and the cause.
    package func redacted(as type: Any.Type) -> PreferenceError {
        PreferenceError(
            code,
            name: name,
            code == .invalid
                ? "the value is not allowed: \(Self.redactedReason)"
                : "expected \(type), found \(String.redacted)"
        )
    }
}
