#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a preference could not be read or written, and what to do about it.
public struct PreferencesError: Error, Sendable {
    /// The kind of an error, to compare with; new kinds may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code as it stands in the source.
        public let description: String
        private init(_ description: String) { self.description = description }

        /// The stored value is not one of the declared type.
        public static let unreadable = Code("unreadable")
        /// The value is refused by the preference's validation.
        public static let invalid = Code("invalid")
        /// The value could not be turned into a stored value.
        public static let unencodable = Code("unencodable")
        /// The name of a preference or suite can't be used.
        public static let invalidName = Code("invalidName")
        /// A layer that the user can't override holds the value.
        public static let managed = Code("managed")
        /// The value was stored, but a stronger layer's is read; only reported.
        public static let hidden = Code("hidden")
        /// The store takes no writes.
        public static let readOnly = Code("readOnly")
        /// The store's server does not let the user read or change this, or the file or its folder is another user's; nothing
        /// changed.
        public static let notPermitted = Code("notPermitted")
        /// A transaction touched a preference of another store.
        public static let wrongStore = Code("wrongStore")
        /// Others kept changing what an update or transaction had read; nothing changed.
        public static let conflict = Code("conflict")
        /// Another process held the file's lock too long; nothing changed.
        public static let busy = Code("busy")
        /// The store could not be read or written; nothing changed.
        public static let unavailable = Code("unavailable")
        /// The server's space is used up; nothing changed.
        public static let noSpace = Code("noSpace")
        /// The value is set and readable, but may not survive a loss of power.
        public static let notDurable = Code("notDurable")
        /// It can't be told whether the value was stored; read it again.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// A part of the file can't be read; it is skipped and kept.
        public static let damaged = Code("damaged")
        /// The file is of a format that this version doesn't know.
        public static let unknownFormat = Code("unknownFormat")
        /// The store shows another account's values from now on.
        public static let accountChanged = Code("accountChanged")
        /// The value, its nesting or its name is larger than the store takes.
        public static let tooLarge = Code("tooLarge")
        /// Observers kept setting what they observe.
        public static let feedbackLoop = Code("feedbackLoop")
        /// The store's data is newer than this program's migrations.
        public static let newerVersion = Code("newerVersion")
        /// A declaration is used in a way that can't be meant.
        public static let misuse = Code("misuse")
    }

    /// What kind of error it is.
    public let code: Code
    /// The preference's name, where one is concerned.
    public var name: String?
    /// One or two sentences: what happened, and what to do.
    public let message: String
    /// Where inside the value it happened, outermost key or index first; empty for the value itself.
    public var codingPath: [String]
    /// The error that caused this one, if any.
    public let cause: (any Error)?
    /// The line that can't be read, if the error reports one; for the tool `prefs`, as its text may be a secret's.
    @_spi(Tool) public internal(set) var damagedLine: (path: String, number: Int)?

    /// Makes an error, as a backend or a coding of one's own needs.
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

extension PreferencesError {
    /// The error with the preference's name, unless it has one.
    func named(_ name: String) -> PreferencesError { of(self.name ?? name) }

    /// The error with the name of a preference.
    func of(_ name: String) -> PreferencesError {
        var error = self
        error.name = name
        return error
    }
}

extension PreferencesError: CustomStringConvertible {
    /// The whole error in one line: name, path, message and cause, with control characters escaped.
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

extension PreferencesError: LocalizedError {
    /// The whole error in one line, as `description`; not translated.
    public var errorDescription: String? { description }
}

// So that a `catch` need not go through `error.code`.
extension PreferencesError {
    /// The code `Code.unreadable`, for `catch PreferencesError.unreadable`.
    public static let unreadable = Code.unreadable
    /// The code `Code.invalid`, for `catch PreferencesError.invalid`.
    public static let invalid = Code.invalid
    /// The code `Code.unencodable`, for `catch PreferencesError.unencodable`.
    public static let unencodable = Code.unencodable
    /// The code `Code.invalidName`, for `catch PreferencesError.invalidName`.
    public static let invalidName = Code.invalidName
    /// The code `Code.managed`, for `catch PreferencesError.managed`.
    public static let managed = Code.managed
    /// The code `Code.hidden`, for `catch PreferencesError.hidden`.
    public static let hidden = Code.hidden
    /// The code `Code.readOnly`, for `catch PreferencesError.readOnly`.
    public static let readOnly = Code.readOnly
    /// The code `Code.notPermitted`, for `catch PreferencesError.notPermitted`.
    public static let notPermitted = Code.notPermitted
    /// The code `Code.wrongStore`, for `catch PreferencesError.wrongStore`.
    public static let wrongStore = Code.wrongStore
    /// The code `Code.conflict`, for `catch PreferencesError.conflict`.
    public static let conflict = Code.conflict
    /// The code `Code.busy`, for `catch PreferencesError.busy`.
    public static let busy = Code.busy
    /// The code `Code.unavailable`, for `catch PreferencesError.unavailable`.
    public static let unavailable = Code.unavailable
    /// The code `Code.noSpace`, for `catch PreferencesError.noSpace`.
    public static let noSpace = Code.noSpace
    /// The code `Code.notDurable`, for `catch PreferencesError.notDurable`.
    public static let notDurable = Code.notDurable
    /// The code `Code.outcomeUnknown`, for `catch PreferencesError.outcomeUnknown`.
    public static let outcomeUnknown = Code.outcomeUnknown
    /// The code `Code.damaged`, for `catch PreferencesError.damaged`.
    public static let damaged = Code.damaged
    /// The code `Code.unknownFormat`, for `catch PreferencesError.unknownFormat`.
    public static let unknownFormat = Code.unknownFormat
    /// The code `Code.accountChanged`, for `catch PreferencesError.accountChanged`.
    public static let accountChanged = Code.accountChanged
    /// The code `Code.tooLarge`, for `catch PreferencesError.tooLarge`.
    public static let tooLarge = Code.tooLarge
    /// The code `Code.feedbackLoop`, for `catch PreferencesError.feedbackLoop`.
    public static let feedbackLoop = Code.feedbackLoop
    /// The code `Code.newerVersion`, for `catch PreferencesError.newerVersion`.
    public static let newerVersion = Code.newerVersion
    /// The code `Code.misuse`, for `catch PreferencesError.misuse`.
    public static let misuse = Code.misuse
}

extension PreferencesError.Code {
    /// Returns whether an error is a `PreferencesError` of the code, for `catch` and `case`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? PreferencesError)?.code == code
    }
}

// MARK: Errors of coders

extension PreferencesError {
    /// An error of a coder or of a type's own code, told as one of this library.
    init(_ code: Code, from error: any Error) {
        switch error {
        case let error as PreferencesError: self = error
        case DecodingError.keyNotFound(let key, let context):
            self.init(code, "missing key \"\(key.stringValue)\"", context)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(code, context.debugDescription, context)
        case EncodingError.invalidValue(_, let context):
            self.init(
                code,
                context.debugDescription,
                codingPath: context.codingPath.map(\.component),
                cause: context.underlyingError
            )
        default: self.init(code, "the type's own coding failed", cause: error)
        }
    }

    private init(_ code: Code, _ message: String, _ context: DecodingError.Context) {
        self.init(code, message, codingPath: context.codingPath.map(\.component), cause: context.underlyingError)
    }

    /// Runs `body`, and says in its errors that they happened inside `component`.
    @inline(__always)
    static func inside<Result>(
        _ component: @autoclosure () -> String,
        _ code: Code,
        _ body: () throws -> Result
    ) throws(PreferencesError) -> Result {
        do {
            return try body()
        } catch {
            var error = PreferencesError(code, from: error)
            error.codingPath.insert(component(), at: 0)
            throw error
        }
    }
}

extension CodingKey {
    /// The key as an error's path shows it; Foundation's coders spell an index out.
    fileprivate var component: String {
        if let intValue, stringValue == "Index \(intValue)" { return intValue.description }
        return stringValue
    }
}

// MARK: Secrets

extension String {
    /// The text that stands for a secret's value in descriptions and errors.
    package static var redacted: String { "<redacted>" }
}

extension PreferencesError {
    /// The reason for which a rule rejects a secret; the rule's own has the value, or its bounds.
    static var redactedReason: String { "\(String.redacted) is rejected by the preference's rule" }

    /// Returns the error of reading a secret without what may show the value: the message, the path inside the value, the cause.
    func redacted(as type: Any.Type) -> PreferencesError {
        PreferencesError(
            code,
            name: name,
            code == .invalid
                ? "the stored value is not allowed: \(Self.redactedReason)"
                : "expected \(type), found \(String.redacted)"
        )
    }
}
