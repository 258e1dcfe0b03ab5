/// What a store keeps for one name that was declared or observed; guarded by the store's lock.
final class PreferenceNode {
    /// What Observation tracks; lives as long as the store, so that a tracked read outlives its `Preference`.
    let signal = PreferenceSignal()
    // The store's lock excludes others; to check that took 300 instructions a set.
    @exclusivity(unchecked) var subscriptions: [ChangeSubscription] = []
    @exclusivity(unchecked) private var slots: [SlotKey: SlotEntry] = [:]
    /// How many slots there may be before those that nobody uses are dropped.
    private var slotLimit = 8
    /// Who has reported the stored value as unreadable already, whatever their validation: a view may declare its own
    /// each time.
    @exclusivity(unchecked) private var reported: Set<SlotKey> = []

    private struct SlotEntry {
        let slot: AnyObject
        let cell: PreferenceCell
    }

    var isObserved: Bool { !subscriptions.isEmpty }

    /// Whether somebody could not read what is stored, or the strongest layer's value, since that changed.
    @exclusivity(unchecked) private(set) var isUnreadable = false

    /// Makes every slot of the name read the store again, after a change that is shown or below a stronger layer's value.
    func invalidate(isShown: Bool = true) {
        if isShown { isUnreadable = false }
        if !reported.isEmpty { reported.removeAll() }
        for entry in slots.values { entry.cell.invalidate() }
    }

    /// The slot of a type and coding, made where nobody uses one yet, with the caller counted as its user.
    func slot<Value>(for key: SlotKey) -> PreferenceSlot<Value> {
        if let entry = slots[key], let slot = entry.slot as? PreferenceSlot<Value>, entry.cell.join() { return slot }
        if slots.count >= slotLimit {
            slots = slots.filter { $0.value.cell.isUsed }
            slotLimit = max(8, slots.count * 2)
        }
        let slot = PreferenceSlot<Value>()
        slots[key] = SlotEntry(slot: slot, cell: slot.cell)
        return slot
    }

    /// Whether this is the first report of the stored value by the slot's type and coding.
    func isFirstReport(by key: SlotKey) -> Bool {
        isUnreadable = true
        return reported.insert(SlotKey(type: key.type, coding: key.coding, validation: nil)).inserted
    }
}
