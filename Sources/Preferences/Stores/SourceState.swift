internal import DurableFile

/// All that a source knows besides its values, guarded by its lock; no method calls out.
struct SourceState {
    enum Phase {
        case closed
        case open
        case failed(PreferencesError)
    }

    var phase: Phase
    var turn = SourceTurn<Condition<Bool>>()
    /// What the backend reported while a thread was at it.
    var reports: [PreferencesError] = []
    /// The stores that show the source, by age.
    private(set) var cores: [any SourceUser] = []
    /// What was set while the backend could not be opened.
    var kept: [String: PropertyListValue?] = [:]
    /// The names that the backend was asked for; nil where it lists all it has.
    var known: Set<String>?
    /// Counts the changes of the values.
    var version: UInt64 = 0
    private var isReported = false

    init(phase: Phase) {
        self.phase = phase
    }

    var isOpen: Bool {
        if case .open = phase { true } else { false }
    }

    var failure: PreferencesError? {
        if case .failed(let error) = phase { error } else { nil }
    }

    /// Whether nobody was told yet why the backend can't be opened.
    mutating func isFirstReport() -> Bool {
        defer { isReported = true }
        return !isReported
    }

    /// Which of the names the backend must be asked for before they are read.
    func unknown(among names: some Collection<String>) -> Set<String> {
        guard let known, !names.isEmpty else { return [] }
        return Set(names).subtracting(known)
    }

    mutating func attach(_ core: any SourceUser) {
        guard !cores.contains(where: { $0 === core }) else { return }
        let index = cores.firstIndex { $0.id > core.id } ?? cores.endIndex
        cores.insert(core, at: index)
    }

    /// Takes a store out; the caller releases it without the lock.
    mutating func detach(_ core: any SourceUser) -> (any SourceUser)? {
        cores.firstIndex { $0 === core }.map { cores.remove(at: $0) }
    }

    enum Release {
        case refresh
        case free(wake: Condition<Bool>?, reports: [PreferencesError])
    }

    /// What the holder of the turn does next.
    mutating func release() -> Release {
        switch turn.release() {
        case .refresh: return .refresh
        case .free(let waiter):
            return .free(wake: waiter, reports: exchange(&reports, with: []))
        }
    }
}
