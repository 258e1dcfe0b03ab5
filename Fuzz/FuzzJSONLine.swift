/// Reads the input as a line, as a file's first line and as a value alone: nothing may crash, and what is read must be
/// the same after it was written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSONLine(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    for isFirst in [false, true] {
        guard case .success(let entries) = read(bytes, isFirst: isFirst) else { continue }
        checkWriting(entries)
        checkBeginning(of: bytes, isFirst: isFirst, entries: entries)
    }
    checkValue(bytes)
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

/// Reads what `write` appends, which must be one line.
private func readBack(_ write: (inout [UInt8]) throws(PreferencesError) -> Void) -> [Entry] {
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
        let again = readBack { (line) throws(PreferencesError) in
            try JSONLine.write(name: entry.name, value: entry.value, to: &line)
        }
        check(again == [entry], "an entry changed")
        changes[entry.name] = .some(entry.value)
    }
    var again: [String: PropertyListValue?] = [:]
    for entry in readBack({ (line) throws(PreferencesError) in try JSONLine.write(changes, to: &line) }) {
        check(again.updateValue(entry.value, forKey: entry.name) == nil, "a name was written twice")
    }
    check(again == changes, "a transaction changed")
}

/// A line that was cut off must say that it may still be arriving, unless nothing but space is missing or left.
private func checkBeginning(of bytes: UnsafeRawBufferPointer, isFirst: Bool, entries: [Entry]) {
    guard let last = bytes.last else { return }
    let cut = UnsafeRawBufferPointer(rebasing: bytes.prefix((Int(last) &* 31 &+ entries.count) % bytes.count))
    switch read(cut, isFirst: isFirst) {
    case .success(let read): check(read.isEmpty || read == entries, "a beginning reads as something else")
    case .failure(let error): check(error.kind == .incomplete, "a beginning is damaged: \(error)")
    }
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

/// As `precondition`, which says nothing in an optimised build.
private func check(_ condition: Bool, _ failure: @autoclosure () -> String) {
    if !condition { fatalError(failure()) }
}
