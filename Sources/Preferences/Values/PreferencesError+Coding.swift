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
