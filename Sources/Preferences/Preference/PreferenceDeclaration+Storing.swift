internal import DurableFile

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
    func form(of new: PropertyListValue?, over candidates: StoredCandidates, part: MemberSet? = nil)
        throws(PreferenceError) -> PropertyListValue?
    {
        guard let new else {
            if let first = candidates.first, first.layer == nil, first.value.isUnset { return .unset }
            let isHiding = candidates.first { $0.layer != nil } != nil || store.core.newest.layers.hasUnreadWeakerLayers
            return isHiding ? .unset : nil
        }
        guard dependsOnStored(new), !candidates.isEmpty else { return new }
        let understood = slot.understood.withLock { exchange(&$0, with: new) }
        return merged(new, over: candidates, part: part, understood)
    }

    @inline(never)
    private func merged(
        _ new: PropertyListValue,
        over candidates: StoredCandidates,
        part: MemberSet?,
        _ understood: PropertyListValue?
    ) -> PropertyListValue {
        if candidates.first?.layer == nil, let understood, candidates.first?.value == understood { return new }
        guard let (value, stored, reader) = understandable(candidates) else { return new }
        do {
            guard let base = try encodeUnchecked(value, isStored: true) else { return new }
            return merged(new, base, into: stored, reader, part: part)
        } catch {
            return new  // what can't be encoded can't be merged
        }
    }

    /// Returns what the program understands of the candidates: the value, its stored form, and what could not be decoded of it.
    private func understandable(_ candidates: StoredCandidates) -> (Value, PropertyListValue, EvolvingReader?)? {
        let isOwn = candidates.first?.layer == nil
        var understandable: (Value, PropertyListValue, EvolvingReader?)?
        _ = candidates.first { candidate in
            // Nothing is known behind a nil that was set; nor is a weaker layer's value shown behind an own one.
            if candidate.value.isUnset || isOwn && candidate.layer != nil { return true }
            // Of the own values, the rules don't matter: the program understands a value that they forbid.
            understandable = understand(candidate, ignoringRules: isOwn)
            return understandable != nil
        }
        return understandable
    }

    /// Returns the form of what the program understands of the candidates, or of the default, and the stored value.
    func understood(in candidates: StoredCandidates) -> (PropertyListValue?, PropertyListValue?) {
        let understandable = candidates.isEmpty ? nil : understandable(candidates)
        do {
            return (try encodeUnchecked(understandable?.0 ?? makeDefault(), isStored: true), understandable?.1)
        } catch {
            return (nil, understandable?.1)
        }
    }

    /// Returns a value merged into a stored one of which the program understands something else than `base`; the value itself if it
    /// understands nothing of it.
    func merged(_ new: PropertyListValue, _ base: PropertyListValue, into stored: PropertyListValue)
        -> PropertyListValue
    {
        guard !new.isUnset, !stored.isUnset, dependsOnStored(new),
            let (_, _, reader) = understand(StoredCandidate(value: stored), ignoringRules: true)
        else { return new }
        return merged(new, base, into: stored, reader, isBaseOther: true)
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
    private func understand(_ candidate: StoredCandidate, ignoringRules: Bool) -> (
        Value, PropertyListValue, EvolvingReader?
    )? {
        var stored = candidate.value
        // A coding of JSON reads the text itself.
        if candidate.isText, case .string(let text) = stored, let compound = JSONLine.compound(in: text),
            !coding.form.isJSON
        {
            stored = compound
        }
        do {
            let (value, reader) = try decodedWithReader(stored, fillsOnly: candidate.isText)
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

    /// Stores a value, given in its own form, over what is stored now.
    func store(_ new: PropertyListValue?) throws(PreferenceError) {
        let core = store.core
        // Usually the value of the last set is still stored, and then nothing needs to be merged.
        if let new, let understood = slot.understood.withLock({ $0 }), core.isWritableOpen {
            slot.understood.withLock { $0 = new }
            let reads = TransactionReads(of: name, mergedInto: understood)
            if try core.commit(.one(name, new), ifStillHolds: reads, node: node) { return }
        }
        let call = core.beginCall()
        var retry = Retry()
        while true {
            let candidates = try core.base(for: name, call)
            let reads = TransactionReads(of: name, formerly: core.formerNames(of: name), as: candidates).ofMerge()
            let changes = core.changes(of: name, to: try form(of: new, over: candidates))
            if try core.commit(changes, ifStillHolds: reads, node: node, call) { return }
            Retry.block(try retry.next(name: name, until: core.deadline(of: call)))
        }
    }

    /// Stores a value, as `store` does; the task is suspended while a backend with a timeout is called.
    nonisolated(nonsending) func storeSuspending(_ new: PropertyListValue?, _ call: StoreCall)
        async throws(PreferenceError)
    {
        let core = store.core
        var retry = Retry()
        while true {
            let candidates = try await core.base(for: name, suspending: call)
            let reads = TransactionReads(of: name, formerly: core.formerNames(of: name), as: candidates).ofMerge()
            let changes = core.changes(of: name, to: try form(of: new, over: candidates))
            if try await core.commit(changes, ifStillHolds: reads, suspending: call) { return }
            await Retry.suspend(
                try retry.next(name: name, until: core.deadline(of: call), after: Retry.patience)
            )
        }
    }
}

// MARK: Keeping what can't be stored

extension PreferenceDeclaration {
    /// Handles a value that could not be set: keeps and shows it if the store can't be opened, else reports the error.
    ///
    /// It is merged into what is stored, with what is shown now as the base, once the store can be opened.
    @inline(never)
    func keep(_ value: Value, because error: PreferenceError) {
        let core = store.core
        do throws(PreferenceError) {
            guard error.isOfOpening else { throw error }
            var retry = Retry()
            while true {
                let candidates = core.shownBase(for: name)
                let merge = try merge(over: candidates)
                let changes = core.changes(of: name, to: try encode(value, over: candidates))
                let reads = TransactionReads(of: name, formerly: core.formerNames(of: name), as: candidates)
                if try core.keep(changes, of: name, merge: merge, ifStillHolds: reads, because: error) { return }
                if core.layers.writable?.isOpen ?? true { return try Preference(self).write(value) }
                Retry.block(try retry.next(name: name, until: nil))
            }
        } catch {
            core.report(error.named(name))
        }
    }

    /// Returns what merges a kept form into a stored one, with the value that the candidates give as the base.
    func merge(over candidates: StoredCandidates) throws(PreferenceError) -> Outbox.Merge {
        if let member { return try member.merge(candidates) }
        // With what a weaker layer's value has besides: that isn't set by this program.
        let shown = try encodeUnchecked(read(candidates, isReporting: false).value ?? makeDefault(), isStored: true)
        let base = try shown.flatMap { shown throws(PreferenceError) in try form(of: shown, over: candidates) }
        // In a store of its own, because the source keeps this closure.
        let declaration = bound(to: .inMemory())
        return { new, stored in
            guard declaration.dependsOnStored(new), let base = base ?? declaration.emptied(new) else { return new }
            return declaration.merged(new, base, into: stored)
        }
    }
}

extension PreferenceDeclaration {
    /// Returns a form of the same kind without members or elements, which stands for no value; nil for other kinds.
    private func emptied(_ new: PropertyListValue) -> PropertyListValue? {
        let empty: PropertyListValue
        switch coding.form.tree(of: new) {
        case .array: empty = .array([])
        case .dictionary: empty = .dictionary([:])
        default: return nil
        }
        do { return try coding.form.form(of: empty, like: new) } catch { return nil }
    }
}

// MARK: Changing in one step

extension PreferenceDeclaration {
    /// Stores what `body` returns for the stored values of the name; runs it again if they changed during the run.
    func updateStored<Result>(
        _ body: (StoredCandidates) throws -> (PropertyListValue?, Result)
    ) throws -> Result {
        let core = store.core
        noteStrongerValue(in: core)
        let call = core.beginCall()
        var retry = Retry()
        while true {
            let candidates = try core.base(for: name, call)
            let (changed, result) = try run(body, candidates)
            let reads = TransactionReads(of: name, formerly: core.formerNames(of: name), as: candidates)
            if try core.commit(core.changes(of: name, to: changed), ifStillHolds: reads, call) { return result }
            let pause = try retry.next(name: name, until: core.deadline(of: call))
            if retry.isStarving, let call, let result = try updateAlone(call, body) { return result }
            Retry.block(pause)
        }
    }

    private func run<Result>(
        _ body: (StoredCandidates) throws -> (PropertyListValue?, Result),
        _ candidates: StoredCandidates,
        isAlone: Bool = false
    ) throws -> (PropertyListValue?, Result) {
        let (core, names) = (store.core, store.core.formerNames(of: name))
        return try RunningBody.run(.update, of: name, and: names, in: core, isAlone: isAlone) { _ in
            try body(candidates)
        }
    }

    /// Updates the stored value with the lock of the file, so that nothing changes it in between; returns nil if that isn't possible now.
    private func updateAlone<Result>(
        _ call: StoreCall,
        _ body: (StoredCandidates) throws -> (PropertyListValue?, Result)
    ) throws -> Result? {
        let core = store.core
        var result: Result?
        let isStored = try core.commitAlone(call) {
            let candidates = core.shownBase(for: name)
            let (changed, made) = try run(body, candidates, isAlone: true)
            result = made
            let reads = TransactionReads(of: name, formerly: core.formerNames(of: name), as: candidates)
            return (core.changes(of: name, to: changed), reads)
        }
        return isStored ? result : nil
    }

    /// Updates the stored value, as `updateStored` does; the task is suspended while a backend with a timeout is called.
    nonisolated(nonsending) func updateSuspending<Result>(
        _ body: (StoredCandidates) throws -> (PropertyListValue?, Result)
    ) async throws -> Result {
        let core = store.core
        guard let call = core.beginSuspendingCall() else { return try updateStored(body) }
        noteStrongerValue(in: core)
        var retry = Retry()
        while true {
            let candidates = try await core.base(for: name, suspending: call)
            let (changed, result) = try run(body, candidates)
            let reads = TransactionReads(of: name, formerly: core.formerNames(of: name), as: candidates)
            let changes = core.changes(of: name, to: changed)
            if try await core.commit(changes, ifStillHolds: reads, suspending: call) { return result }
            let pause = try retry.next(name: name, until: core.deadline(of: call), after: Retry.patience)
            if retry.isStarving, let result = try updateAlone(call.blocking(.none), body) { return result }
            await Retry.suspend(pause)
        }
    }

    /// Stores the newest whole value with `value` as its member.
    func replace(with value: Value) throws(PreferenceError) {
        do {
            try updateStored { candidates in (try encode(value, over: candidates), ()) }
        } catch {
            throw PreferenceError(.unencodable, from: error)
        }
    }

    /// Replaces the member, as `replace` does; the task is suspended while a backend with a timeout is called.
    nonisolated(nonsending) func replaceSuspending(with value: Value) async throws(PreferenceError) {
        do {
            try await updateSuspending { candidates in (try encode(value, over: candidates), ()) }
        } catch {
            throw PreferenceError(.unencodable, from: error)
        }
    }
}
