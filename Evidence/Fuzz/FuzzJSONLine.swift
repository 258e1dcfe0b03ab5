/// Reads the input as a line, as a file's first line, as a file and as a single value: nothing must crash, and what was
/// read must be the same after it was written and read again. The table that a file is read into must agree with the
/// reader. The output of `prefs` for it must not control a terminal.
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
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map(UnsafeRawBufferPointer.init)
    checkTable(lines)
    checkLinesTogether(lines)
    // As an object over several lines.
    checkTable([bytes])
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

/// Reads a file's lines into a table together, as the store does, and one by one: the same values must result.
private func checkLinesTogether(_ fileLines: [UnsafeRawBufferPointer]) {
    var (bytes, number, start) = ([] as [UInt8], 0, 0)
    var together = ValueTable()
    var oneByOne = ValueTable()
    for line in fileLines {
        do { try oneByOne.read(line, isFirst: number == 0) } catch {}  // a damaged line sets nothing
        number += 1
        bytes += line
        bytes.append(UInt8(ascii: "\n"))
    }
    number = 0
    bytes.withUnsafeBytes { bytes in
        while start < bytes.count {
            if number > 0 {
                let read = together.readPlainLines(UnsafeRawBufferPointer(rebasing: bytes[start...]))
                (start, number) = (start + read.byteCount, number + read.lineCount)
            }
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return }
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            do { try together.read(line, isFirst: number == 0) } catch {}
            (start, number) = (end + 1, number + 1)
        }
    }
    check(
        together.dictionary == oneByOne.dictionary && together.count == oneByOne.count,
        "lines together say something else"
    )
}

/// Reads a file's lines into a table and into a dictionary: the same lines must be damaged, for the
/// same reasons, and the same values must result, also of names that were set or removed in between.
private func checkTable(_ fileLines: [UnsafeRawBufferPointer]) {
    var table = ValueTable()
    var values: [String: PropertyListValue] = [:]
    for (number, line) in fileLines.enumerated() {
        var error: JSONLineError?
        do { try table.read(line, isFirst: number == 0) } catch let failure { error = failure }
        switch read(line, isFirst: number == 0) {
        case .success(let entries):
            check(error == nil, "the table refuses what the reader takes")
            for entry in entries { values[entry.name] = entry.value }
            if number % 3 == 1, let entry = entries.first {
                let value = number % 2 == 0 ? nil : PropertyListValue.integer(Int64(number))
                table.set(value, for: entry.name)
                values[entry.name] = value
            }
        case .failure(let failure): check(error == failure, "the table takes what the reader refuses")
        }
    }
    check(table.dictionary == values && table.count == values.count, "the table says something else")
    check(Set(table.names) == Set(values.keys), "the table has other names")
    for name in values.keys { check(table[name] == values[name], "the table doesn't find a name") }
    check(table.differences(to: ValueTable(values)).isEmpty, "the table differs from its own values")
    var lines: [UInt8] = []
    var again = ValueTable()
    do {
        try table.appendLines(to: &lines)
        for line in lines.split(separator: UInt8(ascii: "\n")) { try line.withUnsafeBytes { try again.read($0) } }
    } catch { fatalError("what the table wrote can't be read: \(error)") }
    check(again.dictionary == values, "the table wrote something else")
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
