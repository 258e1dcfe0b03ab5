internal import DurableFile
internal import Synchronization

extension StoreCore {
    /// Stores the changes that `make` returns while no other thread or process can change what it reads: with the lock of the file.
    ///
    /// For a call whose changes were in conflict with those of others again and again. `make` reads by `shownBase(for:)` or
    /// `shownSnapshot()`, and must not wait for this store or another one. Observers that are notified before a change are notified
    /// after this one, as of external changes.
    ///
    /// - Returns: Whether the changes are stored, or nothing was to be stored; false if the store isn't over a file, if the call must not
    ///   wait and would have to, or if a lower layer has changed.
    func commitAlone(
        _ call: StoreCall,
        _ make: () throws -> (changes: ValueChanges?, reads: TransactionReads)
    ) throws -> Bool {
        let list = attachedLayers
        guard list.isPrepared.load(ordering: .acquiring), let writable = list.writable, let file = writable.file,
            writable.isOpen
        else { return false }
        for layer in list.layers where layer.isManaged { try layer.source.checkPolicy(call) }
        var outcome: Result<Bool, any Error> = .success(true)
        do throws(PreferenceError) {
            let context = ChangeContext(origin: .local, initiator: ObjectIdentifier(self))
            try writable.commitAlone(to: file, context, call) {
                do {
                    let (changes, reads) = try make()
                    guard let changes else { return nil }
                    guard try mayCommit(changes, reads, to: list) else {
                        outcome = .success(false)
                        return nil
                    }
                    return list.writablePrefix.map(changes.prefixed) ?? changes
                } catch {
                    outcome = .failure(error)
                    return nil
                }
            }
        } catch {
            guard call.blocking == .none, error.code == .busy else { throw error }
            return false
        }
        return try outcome.get()
    }

    private func mayCommit(
        _ changes: ValueChanges,
        _ reads: TransactionReads,
        to list: LayerList
    ) throws(PreferenceError) -> Bool {
        guard !list.isPlain else { return true }
        let (managed, isHolding) = state.withLock { state in
            (list.managedName(among: changes, state.formerNames), reads.holdBelow(in: list))
        }
        if let name = managed ?? managedNameElsewhere(among: changes, in: list) { throw PreferenceError(managed: name) }
        return isHolding
    }

    /// Returns the snapshot that a transaction reads, of a store whose layers are open.
    func shownSnapshot() -> StoreSnapshot { read(EmptyCollection()) { StoreSnapshot(of: $0) } }
}
