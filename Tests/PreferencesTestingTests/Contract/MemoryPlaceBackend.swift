import Foundation
import Preferences
import PreferencesTesting

/// Values in memory that several backends share, as processes share a file.
final class MemoryPlace: Sendable {
    struct State {
        var values: [String: PropertyListValue] = [:]
        /// All changes so far, and who has made them.
        var log: [(writer: ObjectIdentifier, changes: [StoredChange])] = []
        var hosts: [ObjectIdentifier: PreferenceBackendHost] = [:]
        /// Whether a change is on its way, so that others have to wait.
        var isLocked = false
        /// Whether only a part of the changes is stored so far, and whether any backend has read them since.
        var (isHalf, isHalfSeen) = (false, false)
        var isFailing = false
    }

    let state = Lock(State())

    func failNextWrite() { state.withLock { $0.isFailing = true } }

    /// Returns a place for the contract suite, whose backends all have the fault.
    static func make(_ fault: PlantedFault? = nil) -> PreferenceBackendPlace {
        let place = MemoryPlace()
        return PreferenceBackendPlace(failNextWrite: { place.failNextWrite() }) { MemoryPlaceBackend(place, fault) }
    }
}

/// A fault of a `MemoryPlaceBackend`.
enum PlantedFault: Sendable {
    case storesTheFirstChangeOnly, storesOneChangeAfterAnother, storesOverOthers, storesBeforeItFails,
        storesDespiteAnError
    case keepsRemovedNames, storesWholeRealsAsIntegers, cutsDatesToSeconds, foldsTheCaseOfNames, holdsAThousandNames
    case echoesItsOwnChanges, dropsExternalChangesInChange, dropsExternalChangesWhenItFails
    case passesOnOutdatedChanges, passesOnNoRemovals, announcesNothing
    case runsTheBodyTwice, wrapsErrors, waitsPastItsDeadline, waitsWithoutSaying, failsToSync, beginsWithAValue
}

/// A backend over a `MemoryPlace` that keeps the contract except for a planted fault.
final class MemoryPlaceBackend: PreferenceBackend, @unchecked Sendable {  // the store calls it one at a time
    let place = "memory of a test"
    let saysWhenItWaits = true
    private let shared: MemoryPlace
    private let fault: PlantedFault?
    /// The length of the place's log that the store has read.
    private var position = 0

    init(_ shared: MemoryPlace, _ fault: PlantedFault? = nil) { (self.shared, self.fault) = (shared, fault) }

    private var identity: ObjectIdentifier { ObjectIdentifier(self) }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        shared.state.withLock { state in
            if fault == .beginsWithAValue, state.log.isEmpty { state.values["odd"] = 1 }
            state.hosts[identity] = host
            position = state.log.count
            return state.values.map { StoredChange($0.key, $0.value) }
        }
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        shared.state.withLock { state in
            state.isHalfSeen = state.isHalfSeen || state.isHalf
            let external = external(in: state)
            // Values that the stores already show may be passed on again.
            if fault == .echoesItsOwnChanges { return .changes(external) }
            if fault == .passesOnOutdatedChanges { return .changes(external + state.log.prefix(1).map(\.changes)) }
            position = state.log.count
            return .changes(external)
        }
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        if fault != .storesOverOthers { try lock(until: deadline) }
        defer { shared.state.withLock { $0.isLocked = false } }
        let (external, isFailing) = shared.state.withLock { state -> ([[StoredChange]], Bool) in
            let external = self.external(in: state)
            if fault == .echoesItsOwnChanges { return (external, false) }
            if !state.isFailing || fault == .dropsExternalChangesWhenItFails { position = state.log.count }
            return (external, exchange(&state.isFailing, with: false))
        }
        if isFailing {
            if fault == .storesBeforeItFails { store(try body(.changes(external))) }
            throw PreferenceError(.unavailable, "the place fails; nothing was changed")
        }
        let changes: [StoredChange]
        do {
            switch fault {
            case .dropsExternalChangesInChange: changes = try body(.none)
            case .runsTheBodyTwice:
                _ = try body(.changes(external))
                changes = try body(.none)
            default: changes = try body(.changes(external))
            }
        } catch {
            if fault == .storesDespiteAnError { store([StoredChange("a", 9)]) }
            if fault == .wrapsErrors { throw PreferenceError(.unavailable, "the body failed", cause: error) }
            throw error
        }
        store(changes.map(stored))
    }

    func sync(until deadline: PreferenceDeadline) throws {
        if fault == .failsToSync { throw PreferenceError(.notDurable, "the place can't be synced") }
    }

    private func lock(until deadline: PreferenceDeadline) throws {
        while shared.state.withLock({ exchange(&$0.isLocked, with: true) }) {
            defer { pauseThread(for: .microseconds(100)) }
            if fault == .waitsPastItsDeadline { continue }
            if deadline.isNow, fault != .waitsWithoutSaying { throw PreferenceDeadline.WouldWait() }
            if deadline.remaining == .zero { throw PreferenceError(.busy, "the place is locked") }
        }
    }

    /// What others have changed.
    private func external(in state: MemoryPlace.State) -> [[StoredChange]] {
        state.log[position...].filter { fault == .echoesItsOwnChanges || $0.writer != identity }.map { entry in
            fault == .passesOnNoRemovals ? entry.changes.filter { $0.value != nil } : entry.changes
        }
    }

    private func store(_ changes: [StoredChange]) {
        let changes =
            fault == .storesTheFirstChangeOnly ? Array(changes.sorted { $0.name < $1.name }.prefix(1)) : changes
        if fault == .storesOneChangeAfterAnother, changes.count == 2 {
            append(Array(changes.prefix(1)), isHalf: true)
            // Until any backend has read in between, or a time without such a read.
            for _ in 0..<200 where !shared.state.withLock({ $0.isHalfSeen }) { pauseThread(for: .microseconds(50)) }
        }
        append(changes)
        let hosts = shared.state.withLock { $0.hosts.filter { $0.key != identity } }
        if fault != .announcesNothing { for host in hosts.values { host.changed() } }
    }

    private func append(_ changes: [StoredChange], isHalf: Bool = false) {
        shared.state.withLock { state in
            state.isHalf = isHalf
            for change in changes where change.value != nil || fault != .keepsRemovedNames {
                if fault == .holdsAThousandNames, state.values.count >= 1_000, state.values[change.name] == nil {
                    continue
                }
                state.values[change.name] = change.value
            }
            if position == state.log.count, fault != .echoesItsOwnChanges { position += 1 }
            state.log.append((identity, changes))
        }
    }

    private func stored(_ change: StoredChange) -> StoredChange {
        switch (fault, change.value) {
        case (.storesWholeRealsAsIntegers, .real(let real)):
            StoredChange(change.name, Int64(exactly: real).map { .integer($0) } ?? change.value)
        case (.cutsDatesToSeconds, .date(let date)):
            StoredChange(
                change.name,
                .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
            )
        case (.foldsTheCaseOfNames, _): StoredChange(change.name.lowercased(), change.value)
        default: change
        }
    }
}
