package import Testing

/// Records an issue with both values if they differ.
///
/// The compiler takes a seventh of the time of `#expect(value == expected)`, whose expansion it type-checks at each use: 2.7 ms instead of
/// 19 ms. Use `#expect` for conditions with other operators, whose parts it shows.
///
/// The location is that of the call. It is in four literals, as `#_sourceLocation` is a macro too.
package func same<Value: Equatable>(
    _ value: Value,
    _ expected: Value,
    _ comment: @autoclosure () -> Comment? = nil,
    fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
) {
    if value == expected { return }
    let location = SourceLocation(fileID: "\(fileID)", filePath: "\(filePath)", line: line, column: column)
    recordDifference(String(reflecting: value), String(reflecting: expected), comment(), at: location)
}

private func recordDifference(_ value: String, _ expected: String, _ comment: Comment?, at location: SourceLocation) {
    let end = comment.map { ": \($0.rawValue)" } ?? ""
    Issue.record("\(value) is not the expected \(expected)\(end)", sourceLocation: location)
}
