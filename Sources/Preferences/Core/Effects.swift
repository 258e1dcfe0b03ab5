internal import CPreferences

/// The signals, deliveries and reports of a turn, due when the thread has no turn any more.
struct Effects {
    private(set) var cores: [StoreCore] = []
    private var signals: [(signal: PreferenceSignal, epochs: (now: UInt8, again: UInt8))] = []
    private var rest: Rest?

    private final class Rest {
        var issues: [PreferenceError] = []
        var finishes = false
        /// Replaced values, whose bytes might be the last ones, and be freed by code of the program.
        var released: [PropertyListValue] = []
    }

    var isEmpty: Bool { cores.isEmpty && signals.isEmpty && rest == nil }

    private mutating func add(_ body: (Rest) -> Void) {
        let used = rest ?? Rest()
        rest = used
        body(used)
    }

    mutating func report(_ issue: PreferenceError) { add { $0.issues.append(issue) } }

    /// Has a keyed backend pass on what it has got.
    mutating func finish() { add { $0.finishes = true } }

    /// Releases a replaced value without a lock.
    mutating func release(_ value: consuming PropertyListValue?) {
        // The switch, too, consumes a value of unknown size, as one with a date is on Apple's platforms.
        let value = value
        switch value {
        case .data, .array, .dictionary: if let value { add { $0.released.append(value) } }
        default: break
        }
    }

    /// Notes that a name shows another value; call under the publish lock.
    mutating func note(_ node: Node) {
        node.invalidate()
        let epochs = node.signal.endEpoch()
        // A tracking that was installed after this change waits for the next one.
        if node.signal.isSignalledTwice { node.usesWeaker = false }
        if epochs.now != 0 { signals.append((node.signal, epochs)) }
    }

    /// Adds a change to the transaction that is being published to a store; `enqueue` must follow. Call under the publish lock.
    mutating func add(_ entry: ChangeEntry, to core: StoreCore) {
        if core.published.isEmpty { cores.append(core) }
        core.published.append(entry)
    }

    /// Notes that a name is shown under other former names; call under the publish lock.
    mutating func noteShown(_ node: Node, _ before: [Candidate]) {
        let after = node.candidates()
        guard before != after else { return node.invalidate() }
        note(node)
        guard !node.subscriptions.isEmpty else { return }
        add(ChangeEntry(node: node, name: node.name, old: before, new: after), to: node.core)
        node.core.enqueue(nil)
    }

    /// Notifies Observation, calls the observers and reports; at once, or when the thread's outermost turn ends.
    func run(_ source: Source, _ thread: UnsafeMutablePointer<preferences_thread_state>) {
        if thread.pointee.turns > 0 {
            if isEmpty { return }
            let deferred = thread.pointee.deferred.map { Unmanaged<Deferred>.fromOpaque($0).takeUnretainedValue() }
            let used = deferred ?? Deferred()
            if deferred == nil { thread.pointee.deferred = Unmanaged.passRetained(used).toOpaque() }
            return used.all.append((source, self))
        }
        if let deferred = thread.pointee.deferred {
            thread.pointee.deferred = nil
            for (source, effects) in Unmanaged<Deferred>.fromOpaque(deferred).takeRetainedValue().all {
                effects.run(source)
            }
        }
        if !isEmpty { run(source) }
    }

    /// Does it on a thread of the pool.
    func runLater(_ source: Source) {
        nonisolated(unsafe) let effects = self
        source.process.pool.run { effects.run(source) }
    }

    private func run(_ source: Source) {
        if rest?.finishes ?? false { source.own?.finish() }
        for (signal, epochs) in signals { signal.send(epochs, on: source.process.pool) }
        for core in cores { core.deliver(on: source.process.pool) }
        for issue in rest?.issues ?? [] { source.report(issue) }
    }

    private final class Deferred { var all: [(source: Source, effects: Effects)] = [] }
}
