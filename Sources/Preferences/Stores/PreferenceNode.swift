/// What a store keeps for one name that was declared or observed; guarded by the store's lock.
final class PreferenceNode {
    /// What Observation tracks; lives as long as the store, so that a tracked read outlives its `Preference`.
    let signal = PreferenceSignal()
    var subscriptions: [ChangeSubscription] = []
    private var slots: [SlotKey: SlotEntry] = [:]
    /// How many slots there may be before those that are gone are dropped.
    private var slotLimit = 8
    /// Who has reported the stored value as unreadable already, whatever their validation: a view may declare its own
    /// each time.
    private var reported: Set<SlotKey> = []

    // A class, as a copy of a weak reference is dear.
    private final class SlotEntry {
        weak var slot: AnyObject?
        let cell: PreferenceCell

        init(_ slot: AnyObject, _ cell: PreferenceCell) {
            self.slot = slot
            self.cell = cell
        }
    }

    var isObserved: Bool { !subscriptions.isEmpty }

    /// Whether somebody could not read what is stored, or the strongest layer's value, since that changed.
    private(set) var isUnreadable = false

    /// Makes every slot of the name read the store again, after a change that is shown or below a stronger layer's value.
    func invalidate(_ effect: StoreContents.Effect = .shown) {
        if effect == .shown { isUnreadable = false }
        if !reported.isEmpty { reported.removeAll() }
        // Only cells are touched: taking a strong reference to a slot could make this the last one, and its value's
        // deinit would run under the store's lock.
        for entry in slots.values { entry.cell.invalidate() }
    }

    /// The slot of a type and coding, made by `make` where there is none yet.
    func slot<Slot: AnyObject>(for key: SlotKey, _ make: (PreferenceCell, PreferenceSignal) -> Slot) -> Slot {
        if let slot = slots[key]?.slot as? Slot { return slot }
        if slots.count >= slotLimit {
            slots = slots.filter { !$0.value.cell.isOrphaned }
            slotLimit = max(8, slots.count * 2)
        }
        let cell = PreferenceCell()
        let slot = make(cell, signal)
        slots[key] = SlotEntry(slot, cell)
        return slot
    }

    /// Whether this is the first report of the stored value by the slot's type and coding.
    func isFirstReport(by key: SlotKey) -> Bool {
        isUnreadable = true
        return reported.insert(SlotKey(type: key.type, coding: key.coding, validation: nil)).inserted
    }
}
