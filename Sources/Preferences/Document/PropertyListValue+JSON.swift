// A value as text, in the form of the preferences file, for backends that store texts.

extension PropertyListValue {
    /// Creates the value of a JSON text in the form in which the file store and the etcd store keep it.
    ///
    /// Dates, data and special numbers are objects with one member: `{"$date":"2026-11-20T22:00:00Z"}`, `{"$data":"AQI="}`,
    /// `{"$real":"inf"}`. A number without a fraction and an exponent is an integer. The text may have spaces and line breaks between
    /// its tokens. What `json()` returns gives an equal value, except for one with a form of a newer version, for which it throws.
    ///
    /// - Parameter text: One value; `null` isn't one, except as an element of an array.
    /// - Throws: `unreadable` if the text isn't JSON, or is nested too deeply, or has a form that this version doesn't know, with the
    ///   place; if the text has several lines, the message begins with line and column.
    public init(json text: String) throws(PreferenceError) {
        self = try JSONLine.reading(Array(text.utf8)) { bytes throws(JSONLineError) in
            try JSONLine.readValue(bytes, isStrict: true)
        }
    }

    /// Returns the value as JSON on one line, in the form in which the file store and the etcd store keep it.
    ///
    /// Members are in the order of their keys, so equal values give equal texts.
    ///
    /// - Throws: `unencodable` or `tooLarge` if the file store rejects the value as well, such as one that is nested too deeply.
    public func json() throws(PreferenceError) -> String {
        var bytes: [UInt8] = []
        try JSONLine.writeValue(self, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONLine {
    /// Returns the result of a closure that reads a text, and gives its errors the place in the text.
    package static func reading<Result>(
        _ text: [UInt8],
        _ body: (UnsafeRawBufferPointer) throws(JSONLineError) -> Result
    ) throws(PreferenceError) -> Result {
        let result = text.withUnsafeBytes { bytes in
            Swift.Result { () throws(JSONLineError) in try body(bytes) }
        }
        do throws(JSONLineError) { return try result.get() } catch { throw PreferenceError(error, in: text) }
    }
}

extension PreferenceError {
    /// Creates the error of a text, with line and column, counted from 1 as in editors, if it has several lines.
    package init(_ error: JSONLineError, in text: [UInt8]) {
        let place = ForeignJSON.place(of: error.offset, in: text)
        self.init(
            error.kind == .unknownFormat ? .unknownFormat : .unreadable,
            text.contains(UInt8(ascii: "\n"))
                ? "line \(place.line), column \(place.column): \(error.reason)" : error.description
        )
    }
}
