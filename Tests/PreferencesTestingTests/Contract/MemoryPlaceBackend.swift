import DurableFile
import Foundation
import Preferences
import PreferencesTesting

/// Values in memory that several backends share, as processes share a file.
final class MemoryPlace: Sendable {
    struct Entry {
        let writer: ObjectIdentifier
        let changes: [String: PropertyListValue?]
    }

    struct State {
        var values: [String: PropertyListValue] = [:]
        /// All sets of changes so far.
        var log: [Entry] = []
        var hosts: [ObjectIdentifier: PreferenceBackendHost] = [:]
        /// Whether only the first of a set of changes is stored so far, and whether any backend has ever read in that state.
        var (isHalf, isHalfSeen) = (false, false)
        var isFailing = false
    }

    let state = Lock(State())

    func failNextWrite() {
        state.withLock { $0.isFailing = true }
    }

    /// Returns a place for the contract suite, whose backends all have the fault.
    static func make(_ fault: PlantedFault? = nil) -> PreferenceBackendPlace {
        let place = MemoryPlace()
        return PreferenceBackendPlace(failNextWrite: { place.failNextWrite() }) {
            MemoryPlaceBackend(place, fault)
        }
    }
}

/// A backend over a `MemoryPlace` that keeps the contract except for a planted fault.
final class MemoryPlaceBackend: PreferenceBackend {
    private let place: MemoryPlace
    private let fault: PlantedFault?
    /// The length of the place's log that the store has read.
    private let position = Lock(0)
    private let known = Lock<[String: PropertyListValue]>([:])

    init(_ place: MemoryPlace, _ fault: PlantedFault?) {
        self.place = place
        self.fault = fault
    }

    private var identity: ObjectIdentifier { ObjectIdentifier(self) }

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        place.state.withLock { state in
            state.hosts[identity] = host
            position.withLock { $0 = state.log.count }
            known.withLock { $0 = state.values }
            return state.values
        }
    }

    func catchUp() {
        place.state.withLock { state in
            state.isHalfSeen = state.isHalfSeen || state.isHalf
            var external = external(in: state)
            // Values that the stores already show may be passed on again.
            if fault == .passesOnOutdatedChanges {
                external.merge(state.log.first?.changes ?? [:]) { $1 }
            } else {
                position.withLock { $0 = state.log.count }
            }
            state.hosts[identity]?.collect(external)
        }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        let changes = stored(changes)
        let (commit, hosts) = try place.state.withLock { state throws(PreferenceError) in
            if state.isFailing {
                state.isFailing = false
                if fault == .storesBeforeItFails { store(changes, in: &state) }
                if fault == .dropsExternalChangesWhenItFails { position.withLock { $0 = state.log.count } }
                throw PreferenceError(.unavailable, "the place fails; nothing was changed")
            }
            let commit = PreferenceBackendCommit(isStored: holds(condition, in: state))
            var external = external(in: state)
            if fault == .dropsExternalChangesInApply { external = [:] }
            if fault == .dropsExternalChangesOfARejectedApply, !commit.isStored { external = [:] }
            if fault == .echoesItsOwnChanges, commit.isStored { external.merge(changes) { $1 } }
            state.hosts[identity]?.collect(external)
            if commit.isStored {
                store(first(of: changes), in: &state)
                state.isHalf = isSplit(changes)
            } else if fault == .storesPartOfARejectedApply {
                store(changes.filter { $0.value != nil }, in: &state)
            }
            position.withLock { $0 = state.log.count }
            known.withLock { $0 = state.values }
            return (commit, state.hosts.filter { $0.key != identity })
        }
        if commit.isStored, isSplit(changes) { storeRest(of: changes) }
        if fault != .announcesNothing { for host in hosts.values { host.changed() } }
        return commit
    }

    func sync() throws(PreferenceError) {
        if fault == .failsToSync { throw PreferenceError(.notDurable, "the place can't be synced") }
    }

    private func external(in state: MemoryPlace.State) -> [String: PropertyListValue?] {
        let unread = state.log[position.withLock { $0 }...].filter { $0.writer != identity }
        let external = unread.reduce(into: [:]) { $0.merge($1.changes) { $1 } }
        return fault == .passesOnNoRemovals ? external.filter { $0.value != nil } : external
    }

    private func holds(_ condition: PreferenceCondition, in state: MemoryPlace.State) -> Bool {
        var condition = condition
        switch fault {
        case .ignoresConditions: return true
        case .ignoresAbsence: condition.values = condition.values.filter { $0.value != nil }
        case .ignoresCompleteness: condition.isComplete = false
        case .comparesWithWhatItKnew: return condition.holds(for: known.withLock { $0 })
        default: break
        }
        return condition.holds(for: state.values)
    }

    private func store(_ changes: [String: PropertyListValue?], in state: inout MemoryPlace.State) {
        for (name, value) in changes where value != nil || fault != .keepsRemovedNames {
            if fault == .holdsAThousandNames, state.values.count >= 1_000, state.values[name] == nil { continue }
            state.values[name] = value
        }
        state.log.append(.init(writer: identity, changes: changes))
    }

    /// Returns whether the changes are stored one after another.
    private func isSplit(_ changes: [String: PropertyListValue?]) -> Bool {
        fault == .storesOneChangeAfterAnother && changes.count == 2
    }

    /// Returns the changes that are stored in the first step.
    private func first(of changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        guard fault == .storesTheFirstChangeOnly || isSplit(changes) else { return changes }
        let first = changes.keys.min()
        return changes.filter { $0.key == first }
    }

    /// Stores the other changes after any backend has read in between, or after a time without such a read.
    private func storeRest(of changes: [String: PropertyListValue?]) {
        for _ in 0..<200 where !place.state.withLock({ $0.isHalfSeen }) { Pause.sleep(microseconds: 50) }
        place.state.withLock { state in
            store(changes, in: &state)
            state.isHalf = false
            position.withLock { $0 = state.log.count }
        }
    }

    private func stored(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        switch fault {
        case .storesWholeRealsAsIntegers:
            return changes.mapValues { value in
                guard case .real(let real) = value, let integer = Int64(exactly: real) else { return value }
                return .integer(integer)
            }
        case .cutsDatesToSeconds:
            return changes.mapValues { value in
                guard case .date(let date) = value else { return value }
                return .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
            }
        case .foldsTheCaseOfNames:
            return changes.reduce(into: [:]) { $0.updateValue($1.value, forKey: $1.key.lowercased()) }
        default:
            return changes
        }
    }
}
