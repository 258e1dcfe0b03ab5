/// The states of a watch, which misses and repeats no change despite silence, lost connections, lost leaders and compactions.
///
/// It uses no thread and no clock: `handle(_:)` takes an event and returns the actions to perform, and `patience` is the time to
/// wait for the next event.
struct WatchStateMachine: Sendable {
    enum Input: Sendable {
        /// The watch starts after the revision of the first read, or with a read if that failed.
        case begin(after: Int64?)
        /// The watch continues after the revision of the cache, whose history has to be compared with the cluster's.
        case resume(after: Int64)
        case response(WatchResponse)
        /// The stream has ended.
        case ended(GatewayFailure)
        /// `patience` has passed without an input; the stream has sent nothing for the duration.
        case silence(since: Duration)
        /// A server has answered, so the watch needn't pause for longer, and may have something to deliver; `patienceWhenAwaited` is over.
        case waiting
        case probed(Result<ProbeResult, GatewayFailure>)
        /// Another history than that of the watch has answered.
        case historyEnded
        /// The watch has to move to another connection.
        case move
        /// Whether the replacement of the watch is open.
        case moved(Bool)
        /// The suite was read at this revision, or reading it failed.
        case reread(Result<Int64, GatewayFailure>)
    }

    enum Action: Hashable, Sendable {
        case open(from: Int64)
        case close
        case leaveEndpoint
        case renewToken
        case apply([WatchEvent])
        /// All events up to this revision were applied.
        case advance(to: Int64)
        /// Read the revision of the mark, and count the names if `isCounting`.
        case probe(isCounting: Bool)
        /// Read the whole suite.
        case reread
        case becameConnected
        case becameDisconnected(GatewayFailure)
        /// Open a second watch over another connection.
        case openReplacement(from: Int64)
        /// Close the current watch and continue with the replacement.
        case useReplacement
        case closeReplacement
    }

    private enum State: Hashable {
        case idle
        case rereading
        case opening
        case watching
        /// Watching, after a probe that found the member ahead of the watch.
        case lagging
        case probing(isSecond: Bool)
        case pausing
    }

    /// The first revision that was not delivered yet, or `nil` if the suite has to be read first.
    private(set) var nextRevision: Int64?
    private var state = State.idle
    private var failures = 0
    /// Whether the pause is the one after the end of a history.
    private var isAfterHistory = false
    /// Whether the watch was open before.
    private var wasOpen = false
    /// Whether the connection is announced when the probe has shown that the history is the known one.
    private var mustAnnounce = false
    /// Whether the watch continues the cache, and its history was not compared yet.
    private var isResumed = false
    /// Whether the suite is read when the probe has shown that the history is the known one, as the replay is too long.
    private var mustReread = false
    /// Whether the watch was reopened because it missed changes, and hasn't delivered any or passed a probe since.
    private var isReopened = false
    /// Whether a replacement is being opened.
    private var isMoving = false
    private var probeCount = 0
    private let endpointCount: Int
    private let attemptTimeout: Duration
    private let probeInterval: Duration
    private let renewal: Duration
    private let random: @Sendable () -> Double

    /// The number of probes of which one counts the names, as the server visits all of them for that.
    static let probesPerCount = 30

    /// The largest number of revisions after that of the cache whose events are received one by one; after more, the suite is read.
    ///
    /// A replay can have each value of a name, and the server reads the history of all suites for it, in the worst case of months.
    static let longestReplay: Int64 = 10_000

    /// Creates a machine that waits for `begin`.
    ///
    /// - Parameters:
    ///   - endpointCount: The number of endpoints, which are tried in turn.
    ///   - attemptTimeout: The time that a watch may take to open.
    ///   - probeInterval: The time without a message after which the member is probed.
    ///   - renewal: The time without a message after which a stream is replaced. It must be longer than the 10 min after which etcd
    ///     sends its revision on a stream without events, as only a broken stream is silent for longer.
    ///   - random: Returns a number in 0..<1 that varies pauses and probes; 0.5 leaves them unchanged.
    init(
        endpointCount: Int = 1,
        attemptTimeout: Duration,
        probeInterval: Duration,
        renewal: Duration = .seconds(15 * 60),
        random: @escaping @Sendable () -> Double = { 0.5 }
    ) {
        self.endpointCount = endpointCount
        self.attemptTimeout = attemptTimeout
        self.probeInterval = probeInterval
        self.renewal = renewal
        self.random = random
    }

    /// The time without an input after which the driver passes `silence`; `nil` waits without a limit.
    var patience: Duration? {
        switch state {
        case .idle, .rereading, .probing: nil
        case .opening: attemptTimeout
        case .watching: probeInterval.jittered(by: 0.1, random())
        case .lagging: min(.seconds(1), probeInterval)
        case .pausing:
            // The pause grows after all endpoints were tried; before, the next one is tried after the shortest.
            RetryPause.pause(
                after: failures.isMultiple(of: endpointCount) ? failures / endpointCount : 1,
                atMost: RetryPause.longest
            ).jittered(by: 0.5, random())
        }
    }

    /// The time since the last attempt to open the watch after which the next may be made if a server has answered, and after which
    /// `waiting` may be passed; `nil` if it has to wait for all of `patience`.
    var patienceWhenAwaited: Duration? {
        guard case .pausing = state else { return .zero }
        return isAfterHistory ? nil : .seconds(1)
    }

    /// Whether the watch pauses before it is opened.
    var isPausing: Bool { state == .pausing }

    /// Whether the watch can move to another connection: it is open, and not moving already.
    var mayMove: Bool { isOpen && !isMoving && nextRevision != nil }

    private var isOpen: Bool {
        switch state {
        case .watching, .lagging, .probing: true
        case .idle, .rereading, .opening, .pausing: false
        }
    }

    mutating func handle(_ input: Input) -> [Action] {
        let actions = actions(for: input)
        guard isMoving, !isOpen else { return actions }
        isMoving = false
        return [.closeReplacement] + actions
    }

    private mutating func actions(for input: Input) -> [Action] {
        switch input {
        case .begin(let revision):
            nextRevision = revision.map { $0 + 1 }
            return open()
        case .resume(let revision):
            (nextRevision, wasOpen, isResumed) = (revision + 1, true, true)
            return open()
        case .response(let response): return handle(response)
        case .ended(let failure): return fail(failure)
        case .silence(let duration):
            if isOpen, duration > renewal {
                // A probe can't detect that a client without this library has put an existing name.
                return [.close] + open()
            }
            return endPatience()
        case .waiting:
            switch state {
            case .watching, .pausing: return endPatience()
            default: return []
            }
        case .probed(.success(.current)):
            guard case .probing = state else { return [] }
            isResumed = false
            if mustReread { return reread() }
            state = .watching
            isReopened = false
            return announcement()
        case .probed(.success(.behind)): return handleLag()
        case .probed(.success(.otherHistory)), .historyEnded: return endHistory()
        case .probed(.failure(let failure)): return [.close] + fail(failure)
        case .move:
            guard mayMove, let nextRevision else { return [] }
            isMoving = true
            return [.openReplacement(from: nextRevision)]
        case .moved(let isOpen):
            guard isMoving else { return [] }
            isMoving = false
            guard isOpen else { return [.closeReplacement] }
            // Events that both watches deliver are applied once, as those before `nextRevision` are dropped.
            state = .watching
            return [.useReplacement, .becameConnected]
        case .reread(.success(let revision)):
            nextRevision = max(nextRevision ?? 0, revision + 1)
            return open()
        case .reread(.failure(let failure)): return fail(failure)
        }
    }

    private mutating func open() -> [Action] {
        guard let nextRevision else {
            state = .rereading
            return [.reread]
        }
        state = .opening
        return [.open(from: nextRevision)]
    }

    private mutating func handle(_ response: WatchResponse) -> [Action] {
        if response.compactRevision.value > 0 {
            // The events in between are lost, so the changes are found by reading the suite.
            nextRevision = nil
            return [.close] + open()
        }
        if response.canceled == true {
            return [.close] + fail(Self.failure(of: response))
        }
        if response.created == true, case .opening = state {
            failures = 0
            // The history may have changed while there was no watch, and a member of a restored cluster waits for the revision.
            let isOlder = response.header?.revision.map { $0.value + 1 < nextRevision ?? 0 } ?? false
            let isFirst = !wasOpen
            wasOpen = true
            guard !isFirst || isOlder else {
                state = .watching
                return [.becameConnected]
            }
            let distance = (response.header?.revision.value ?? 0) - (nextRevision ?? 0)
            // Only after the probe: a read shows no other history if that has got further.
            mustReread = isResumed && distance >= Self.longestReplay
            state = .probing(isSecond: false)
            mustAnnounce = true
            return [.probe(isCounting: false)]
        }
        guard state != .idle, state != .pausing, let expected = nextRevision else { return [] }
        if state != .opening { state = .watching }
        let events = (response.events ?? []).filter { $0.kv.modRevision.value >= expected }
        if let last = events.last {
            isReopened = false
            nextRevision = last.kv.modRevision.value + 1
            return [.apply(events)]
        }
        // A response without events is a progress notification: all events up to its revision were sent.
        guard response.events == nil, let revision = response.header?.revision.value, revision >= expected else {
            return []
        }
        nextRevision = revision + 1
        return [.advance(to: revision)]
    }

    private mutating func endPatience() -> [Action] {
        switch state {
        case .idle, .rereading, .probing: return []
        case .opening: return [.close] + fail(.unreachable("the watch was not opened in time"))
        case .watching:
            state = .probing(isSecond: false)
            probeCount += 1
            return [.probe(isCounting: probeCount.isMultiple(of: Self.probesPerCount))]
        case .lagging:
            state = .probing(isSecond: true)
            return [.probe(isCounting: true)]
        case .pausing: return open()
        }
    }

    private mutating func handleLag() -> [Action] {
        guard case .probing(let isSecond) = state else { return [] }
        isResumed = false
        if mustReread { return reread() }
        guard isSecond else {
            // The event may be on its way.
            state = .lagging
            return announcement()
        }
        // The stream is open and delivers nothing. If a second one from the same revision doesn't either, the suite is read.
        if isReopened { nextRevision = nil }
        isReopened.toggle()
        return [.close, .becameDisconnected(.unreachable("the watch missed changes"))] + open()
    }

    /// Has the suite read in place of a replay, in a history that was compared.
    private mutating func reread() -> [Action] {
        (nextRevision, mustReread) = (nil, false)
        return [.close] + open()
    }

    /// Announces a connection whose history was compared, once.
    private mutating func announcement() -> [Action] {
        guard mustAnnounce else { return [] }
        mustAnnounce = false
        return [.becameConnected]
    }

    /// Has the suite read again, after a pause, as two clusters might answer in turn.
    private mutating func endHistory() -> [Action] {
        nextRevision = nil
        (isReopened, isResumed, mustReread) = (false, false, false)
        guard state != .idle, state != .rereading else { return [] }
        failures = max(failures, 1)
        isAfterHistory = true
        state = .pausing
        return [.close]
    }

    private mutating func fail(_ failure: GatewayFailure) -> [Action] {
        failures += 1
        isAfterHistory = false
        state = .pausing
        var actions: [Action] = [.becameDisconnected(failure)]
        if case .tokenRefused = failure { actions.append(.renewToken) } else { actions.append(.leaveEndpoint) }
        return actions
    }

    /// Returns the failure for a server's reason to end a watch, which it gives as text alone.
    static func failure(of response: WatchResponse) -> GatewayFailure {
        let text = response.cancelReason ?? "the server ended the watch"
        if text.contains("permission denied") || text.contains("PermissionDenied") {
            return .refused(code: 7, message: text)
        }
        return GatewayFailure(ErrorResponse(code: text.contains("invalid auth token") ? 16 : 14, message: text))
    }
}
