/// Reads the input as a line, as a file's first line, as several lines and as a single value: nothing must crash, and what was read must be
/// the same after it was written and read again. The scanner of compactions must agree with the reader. The output of `prefs` for it must
/// not control a terminal.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSONLine(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    for isFirst in [false, true] {
        guard case .success(let entries) = read(bytes, isFirst: isFirst) else { continue }
        checkWriting(entries)
        for entry in entries { checkShowing(entry) }
        checkBeginning(of: bytes, isFirst: isFirst, entries: entries)
    }
    checkValue(bytes)
    for line in bytes.split(separator: UInt8(ascii: "\n")) { checkScanner(UnsafeRawBufferPointer(rebasing: line)) }
    return 0
}

private struct Entry: Equatable {
    let name: String
    let value: PropertyListValue?

    static func == (left: Entry, right: Entry) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
    }
}

private func read(_ bytes: UnsafeRawBufferPointer, isFirst: Bool = false) -> Result<[Entry], JSONLineError> {
    var entries: [Entry] = []
    do {
        try JSONLine.read(bytes, isFirst: isFirst) { name, value in entries.append(Entry(name: name, value: value)) }
        return .success(entries)
    } catch {
        check(entries.isEmpty, "a bad line had an effect")
        check((0...bytes.count).contains(error.offset), "the error is not in the line")
        return .failure(error)
    }
}

/// Reads back what `write` appends, which must be one line.
private func readBack(_ write: (inout [UInt8]) throws(PreferenceError) -> Void) -> [Entry] {
    var line: [UInt8] = []
    do { try write(&line) } catch { fatalError("what was read can't be written: \(error)") }
    check(line.popLast() == UInt8(ascii: "\n") && !line.contains(UInt8(ascii: "\n")), "this is not one line")
    guard case .success(let entries) = line.withUnsafeBytes({ read($0) }) else {
        fatalError("what was written can't be read: \(String(decoding: line, as: UTF8.self))")
    }
    return entries
}

private func checkWriting(_ entries: [Entry]) {
    var changes: [String: PropertyListValue?] = [:]
    for entry in entries {
        let again = readBack { (line) throws(PreferenceError) in
            try JSONLine.write(name: entry.name, value: entry.value, to: &line)
        }
        check(again == [entry], "an entry changed")
        changes[entry.name] = .some(entry.value)
    }
    var again: [String: PropertyListValue?] = [:]
    for entry in readBack({ (line) throws(PreferenceError) in try JSONLine.write(changes, to: &line) }) {
        check(again.updateValue(entry.value, forKey: entry.name) == nil, "a name was written twice")
    }
    check(again == changes, "a transaction changed")
}

/// Checks that a line that was cut off counts as possibly still arriving, unless nothing but space is missing or left.
private func checkBeginning(of bytes: UnsafeRawBufferPointer, isFirst: Bool, entries: [Entry]) {
    guard let last = bytes.last else { return }
    let cut = UnsafeRawBufferPointer(rebasing: bytes.prefix((Int(last) &* 31 &+ entries.count) % bytes.count))
    switch read(cut, isFirst: isFirst) {
    // Of several objects, the first ones may be left.
    case .success(let read): check(entries.starts(with: read), "a beginning reads as something else")
    case .failure(let error): check(error.kind == .incomplete, "a beginning is damaged: \(error)")
    }
}

/// Checks that the reader finds what the scanner finds in a line that it knows.
private func checkScanner(_ line: UnsafeRawBufferPointer) {
    var scanner = JSONScanner(line)
    var found: [(name: Range<Int>, value: Range<Int>)] = []
    var step = scanner.next()
    while case .entry(let name, let value) = step {
        found.append((name, value))
        step = scanner.next()
    }
    guard step == .end else { return }
    do throws(JSONLineError) {
        var scanned: [Entry] = []
        for (name, value) in found {
            let text = UnsafeRawBufferPointer(rebasing: line[value])
            let value = text.isEmpty ? nil : try JSONLine.readValue(text)
            scanned.append(Entry(name: String(decoding: line[name], as: UTF8.self), value: value))
        }
        guard case .success(let entries) = read(line), entries == scanned else { fatalError("the scanner finds something else") }
    } catch { fatalError("the scanner takes what the reader refuses: \(error)") }
}

private func checkValue(_ bytes: UnsafeRawBufferPointer) {
    let value: PropertyListValue
    do { value = try JSONLine.readValue(bytes) } catch { return }
    var written: [UInt8] = []
    do {
        try JSONLine.writeValue(value, to: &written)
        let again = try written.withUnsafeBytes { bytes throws(JSONLineError) in try JSONLine.readValue(bytes) }
        check(again == value, "a value changed")
    } catch {
        fatalError("a value can't be written and read again: \(error)")
    }
}

/// Checks everything that `prefs` prints of a name and a value.
private func checkShowing(_ entry: Entry) {
    var table = Table()
    let error = PreferenceError(.unreadable, name: entry.name, "found \(entry.name)", codingPath: [entry.name])
    table.add(entry.name, error.description)
    check(!error.description.contains("\n"), "an error has two lines")
    do {
        if let value = entry.value {
            table.add(
                ValueText.name(entry.name),
                try ValueText.json(value),
                ValueText.line(entry.name),
                try ValueText.plain(value)
            )
            let json = ShownText(try ValueText.json([entry.name: value]))
            expectHarmless(json)
            // Escaped as JSON escapes, so that a program reads the same.
            let again = try PreferenceText.changes(in: Array(json.text.utf8))
            check(again == [entry.name: value], "shown JSON reads as something else")
            expectHarmless(ShownText(try ValueText.plain(value), .red))
        }
    } catch {
        fatalError("what was read can't be shown: \(error)")
    }
    expectHarmless(table.text())
    check(table.text().text.count { $0 == "\n" } == (entry.value == nil ? 1 : 2), "a row has two lines")
}

private func expectHarmless(_ text: ShownText) {
    for scalar in text.text.unicodeScalars where scalar != "\n" && scalar != "\t" {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
            fatalError("U+\(String(scalar.value, radix: 16)) is shown")
        default: break
        }
    }
}

/// Checks a condition as `precondition` does, but prints the failure in an optimized build too.
private func check(_ condition: Bool, _ failure: @autoclosure () -> String) {
    if !condition { fatalError(failure()) }
}

/// In place of the core's, which has the node of its name, too.
package struct StoredChange {
    package let name: String
    package let value: PropertyListValue?

    init(_ name: String, _ value: PropertyListValue?) { (self.name, self.value) = (name, value) }
}
