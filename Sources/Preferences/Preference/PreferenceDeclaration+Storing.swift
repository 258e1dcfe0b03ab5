/// A set of one member of a value.
struct MemberSet {
    /// The form of the member's new value; nil if it is `nil`, or can't be encoded alone.
    let form: PropertyListValue?
    let keyPath: AnyKeyPath

    /// The names that the key path's description has; those of elements are missing.
    fileprivate var names: [String] { "\(keyPath)".split(separator: ".").dropFirst().map(String.init) }

    /// Returns the member in the form of the whole value, among the paths that the program could not decode.
    fileprivate func part(in whole: PropertyListValue, among paths: Set<[String]>, _ merge: ValueMerge) -> ValuePart? {
        guard !paths.isEmpty, let name = names.last else { return nil }
        let places = places(in: whole, among: paths, merge.spelled)
        if places.count == 1, let path = places.first { return ValuePart(form: form, name: name, path: path) }
        // A member of an element, or of a container inside, is known by its name and form.
        let isInside = paths.contains { path in
            path.count > names.count && path.last.map { merge.spelled([$0]) == merge.spelled([name]) } ?? false
        }
        return places.isEmpty && isInside ? ValuePart(form: form, name: name, path: nil) : nil
    }

    /// Returns the paths in the form of a whole value that the member may have; several if its key has another name.
    ///
    /// - Parameters:
    ///   - paths: Further paths that the whole value need not have.
    ///   - spelled: Returns a path in the spelling in which paths are compared.
    fileprivate func places(
        in whole: PropertyListValue,
        among paths: Set<[String]> = [],
        _ spelled: ([String]) -> [String] = { $0 }
    ) -> Set<[String]> {
        let (names, paths) = (spelled(names), Set(paths.map(spelled)))
        let alike = form == nil ? paths.filter { whole.member(at: $0) == nil } : Set(whole.paths(to: form).map(spelled))
        for count in stride(from: names.count, through: 0, by: -1) {
            // Without a name in common, the key has another name: the form alone shows it.
            let places = count == 0 ? alike : paths.union(alike)
            let found = places.filter { $0.count == names.count && $0.suffix(count) == names.suffix(count) }
            if !found.isEmpty { return found }
        }
        return []
    }
}

extension PropertyListValue {
    /// The paths of the members, of dictionaries in dictionaries, that have a form.
    fileprivate func paths(to form: PropertyListValue?) -> Set<[String]> {
        guard let form, case .dictionary(let members) = self else { return [] }
        return members.reduce(into: []) { paths, member in
            if member.value == form { paths.insert([member.key]) }
            for path in member.value.paths(to: form) { paths.insert([member.key] + path) }
        }
    }

    /// Returns the member of dictionaries in dictionaries at a path.
    fileprivate func member(at path: [String]) -> PropertyListValue? {
        path.reduce(self) { $0?[member: $1] }
    }
}

extension PreferenceDeclaration {
    /// Returns whether a stored form of the whole value has a member, rather than that being read from a default.
    func stores(_ part: MemberSet, in stored: PropertyListValue) -> Bool {
        if let member { return member.isStored(nil, stored, part) }
        do {
            let (value, reader) = try decodedWithReader(stored, fillsOnly: false)
            guard let value, let new = try encodeUnchecked(value, isStored: true),
                let whole = coding.form.tree(of: new), let tree = coding.form.tree(of: stored)
            else { return true }
            let replaced = reader?.replaced ?? []
            let isStored = { (path: [String]) in
                tree.member(at: path) != nil && !path.indices.contains { replaced.contains(Array(path[...$0])) }
            }
            let places = part.places(in: whole, among: tree.member(at: part.names) == nil ? [] : [part.names])
            guard !places.isEmpty else { return part.form == nil && reader == nil }
            return places.contains(where: isStored)
        } catch {
            return true  // what can't be encoded can't be compared
        }
    }
}

// What a set stores, a composite value merged into what is stored and for nil a value that hides weaker layers, and in which steps.

extension PreferenceDeclaration {
    /// Whether what a set stores depends on what is stored.
    @inline(__always)
    func dependsOnStored(_ new: PropertyListValue?) -> Bool {
        switch new {
        case .boolean, .integer, .unsigned, .real, .date: false
        // Whether a nil that is set again stays depends on what is stored, even if no other layer may have a value.
        case .dictionary, .array, nil: true
        case .string, .data: coding.form.isJSON
        }
    }

    /// Returns what a set stores, or nil to remove the stored value.
    ///
    /// - Parameters:
    ///   - new: The form of the value that is set, or nil for `nil`.
    ///   - candidates: The stored values, from the writable layer on.
    ///   - part: The member that is set, if only one is.
    func form(
        of new: PropertyListValue?,
        over candidates: [Candidate],
        part: MemberSet? = nil
    ) -> PropertyListValue? {
        guard let new else {
            if let first = candidates.first, isOwn(first), first.value.isUnset { return .unset }
            // A layer that could not be read may have any value.
            let core = store.core
            let isHiding =
                candidates.contains { !isOwn($0) }
                || core.layers.dropFirst(core.base + 1).contains { $0.source.openingError != nil }
            return isHiding ? .unset : nil
        }
        guard dependsOnStored(new) else { return new }
        // Usually the value of the last set is still stored, and then nothing needs to be merged.
        let understood = slot.understood.withLock { exchange(&$0, with: new) }
        guard let first = candidates.first, !isOwn(first) || first.value != understood else { return new }
        return merged(new, over: candidates, part: part)
    }

    /// Whether a candidate is of the layer that sets change.
    func isOwn(_ candidate: Candidate) -> Bool { candidate.layer == store.core.base }

    @inline(never)
    private func merged(
        _ new: PropertyListValue,
        over candidates: [Candidate],
        part: MemberSet?
    ) -> PropertyListValue {
        guard let (value, stored, reader) = understandable(candidates) else { return new }
        do {
            guard let base = try encodeUnchecked(value, isStored: true) else { return new }
            return merged(new, base, into: stored, reader, part: part)
        } catch {
            return new  // what can't be encoded can't be merged
        }
    }

    /// Returns what the program understands of the candidates: the value, its stored form, and what could not be decoded of it.
    func understandable(_ candidates: [Candidate]) -> (Value, PropertyListValue, EvolvingReader?)? {
        let hasOwn = candidates.first.map(isOwn) ?? true
        for candidate in candidates {
            // Nothing is known behind a nil that was set; nor is a weaker layer's value shown behind an own one.
            if candidate.value.isUnset || hasOwn && !isOwn(candidate) { return nil }
            // Of the own values, the rules don't matter: the program understands a value that they forbid.
            if let understood = understand(candidate.value, isText: isText(candidate), ignoringRules: hasOwn) {
                return understood
            }
        }
        return nil
    }

    /// Returns a value merged into the stored one.
    ///
    /// - Parameters:
    ///   - base: The form of what was understood of the stored value.
    ///   - reader: The reader of what was not understood, if there is any.
    ///   - isBaseOther: Whether `base` is another value, so that the result need not be read as the one that is set.
    func merged(
        _ new: PropertyListValue,
        _ base: PropertyListValue,
        into stored: PropertyListValue,
        _ reader: EvolvingReader?,
        part: MemberSet? = nil,
        isBaseOther: Bool = false
    ) -> PropertyListValue {
        let form = coding.form
        guard var newTree = form.tree(of: new), var baseTree = form.tree(of: base), let tree = form.tree(of: stored)
        else { return new }
        var merge = ValueMerge()
        if let reader {
            merge.holes = reader.holes
            merge.replaced = reader.replaced
        }
        if tree.holdsList || newTree.holdsList { merge.unordered = reader?.unordered ?? unorderedLists(in: stored) }
        if form.changesKeys { merge.ignoreSpelling() }
        merge.part = part?.part(in: newTree, among: merge.replaced, merge)
        merge.isBaseOther = isBaseOther
        if !merge.unordered.isEmpty, form.isJSON {
            newTree = merge.ordered(newTree, unorderedLists(in: new))
            baseTree = merge.ordered(baseTree, unorderedLists(in: base))
        }
        let merged = merge.merged(newTree, baseTree, into: tree) {
            gives(isBaseOther ? nil : newTree, $0, like: new)
        }
        do {
            return merged == newTree ? new : try form.form(of: merged, like: new)
        } catch {
            return new
        }
    }

    /// Returns the lists in a stored form whose order has no meaning, as a reader does: only the type knows them.
    private func unorderedLists(in stored: PropertyListValue) -> [[String]: Int] {
        do { return try coding.evolved(stored, default: makeDefault())?.1.unordered ?? [:] } catch { return [:] }
    }

    /// Returns the value of a candidate, its stored form, and what could not be decoded; nil if it can't be used.
    func understand(_ candidate: PropertyListValue, isText: Bool, ignoringRules: Bool) -> (
        Value, PropertyListValue, EvolvingReader?
    )? {
        var stored = candidate
        // A coding of JSON reads the text itself.
        if isText, case .string(let text) = stored, let compound = JSONLine.compound(in: text),
            !coding.form.isJSON
        {
            stored = compound
        }
        do {
            let (value, reader) = try decodedWithReader(stored, fillsOnly: isText)
            guard let value, ignoringRules || options?.reasonToReject(value) == nil else { return nil }
            return (value, stored, reader)
        } catch {
            return nil
        }
    }

    /// Returns the value of a stored form, and the reader of the parts that can't be decoded.
    func decodedWithReader(_ stored: PropertyListValue, fillsOnly: Bool) throws -> (Value?, EvolvingReader?) {
        do {
            return (try coding.decode(stored), nil)
        } catch {
            guard let (value, reader) = try coding.evolved(stored, default: makeDefault(), fillsOnly: fillsOnly) else {
                throw error
            }
            return (value, reader)
        }
    }

    /// Returns whether merged members are read as the value that is set, or without that at all.
    private func gives(_ newTree: PropertyListValue?, _ merged: PropertyListValue, like new: PropertyListValue) -> Bool
    {
        do {
            let (value, _) = try decodedWithReader(try coding.form.form(of: merged, like: new), fillsOnly: false)
            guard let newTree else { return value != nil }
            guard let value, let stored = try encodeUnchecked(value, isStored: true) else { return false }
            if coding.form.tree(of: stored) == newTree { return true }
            // A set, or a dictionary that is a list, has another order in each JSON text.
            guard let set = try coding.decode(new) else { return false }
            return areEqual(set, value) ?? false
                || CodedForm.native.part(of: set).map { $0 == CodedForm.native.part(of: value) } ?? false
        } catch {
            return false
        }
    }
}
