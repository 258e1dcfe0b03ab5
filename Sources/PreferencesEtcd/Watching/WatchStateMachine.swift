/// What a watch does next: without gap or repeat over silence, lost connections, lost leaders and compactions.
///
/// It knows no thread and no clock: it is fed with what happened, and says what to do and how long to wait for more.
struct WatchStateMachine: Sendable {
    enum Input: Sendable {
        case begin(after: Int64?)
        case response(WatchResponse)
        /// The stream is over.
        case ended(GatewayFailure)
        /// Nothing came for as long as `patience` says, and by the stream for the duration.
        case silence(since: Duration)
        /// A write waits, though the watch is open.
        case waiting
        /// Whether the member that watches, asked for itself, has what the watch did not tell.
        case probed(Result<Bool, GatewayFailure>)
        /// The watch is to go on over another connection.
        case move
        /// Whether the watch of the other connection is open.
        case moved(Bool)
        /// All was read anew, at this revision.
        case reread(Result<Int64, GatewayFailure>)
    }

    enum Action: Hashable, Sendable {
        case open(from: Int64)
        case close
        case leaveEndpoint
        case renewToken
        case take([WatchEvent])
        /// Ask for the mark; for the number of names, too, if it is counting.
        case probe(isCounting: Bool)
        case reread
        case becameConnected
        case becameDisconnected(GatewayFailure)
        /// Opens a watch over another connection beside the one in use.
        case openOther(from: Int64)
        /// Closes the one in use, and uses the other from now on.
        case useOther
        case closeOther
    }

    private enum State: Hashable {
        case idle
        case rereading
        case opening
        case watching
        /// Watching, and the member was found ahead of the watch once.
        case doubting
        case probing(isSecond: Bool)
        case pausing
    }

    /// The first revision that was not told yet; nil before anything was read.
    private(set) var nextRevision: Int64?
    private var state = State.idle
    private var failures = 0
    /// Whether the watch was opened again since it told too little.
    private var isSuspect = false
    /// Whether a watch of another connection is being opened.
    private var isMoving = false
    private var probeCount = 0
    private let attemptTimeout: Duration
    private let probeInterval: Duration
    private let renewal: Duration
    private let random: @Sendable () -> Double

    /// Every how many probes count the names: the server walks all of them for it.
    static let probesPerCount = 30

    /// Creates a machine that has done nothing yet.
    ///
    /// - Parameters:
    ///   - attemptTimeout: How long a watch may take to open.
    ///   - probeInterval: After how much silence the member is asked whether anything was missed.
    ///   - renewal: After how much silence a stream is replaced. It must be longer than the 10 min after which etcd tells its
    ///     revision on a stream without events, as only a stream that is broken is silent for longer.
    ///   - random: Spreads pauses and probes: a number in 0..<1; 0.5 leaves them as they are.
    init(
        attemptTimeout: Duration,
        probeInterval: Duration,
        renewal: Duration = .seconds(15 * 60),
        random: @escaping @Sendable () -> Double = { 0.5 }
    ) {
        self.attemptTimeout = attemptTimeout
        self.probeInterval = probeInterval
        self.renewal = renewal
        self.random = random
    }

    /// After how long without an input `silence` is one.
    var patience: Duration? {
        switch state {
        case .idle, .rereading, .probing: nil
        case .opening: attemptTimeout
        case .watching: probeInterval.jittered(by: 0.1, random())
        case .doubting: min(.seconds(1), probeInterval)
        case .pausing: RetryPause.pause(after: failures).jittered(by: 0.5, random())
        }
    }

    /// Whether the watch is open, and may go on over another connection.
    var mayMove: Bool { isOpen && !isMoving && nextRevision != nil }

    private var isOpen: Bool {
        switch state {
        case .watching, .doubting, .probing: true
        case .idle, .rereading, .opening, .pausing: false
        }
    }

    mutating func handle(_ input: Input) -> [Action] {
        let actions = actions(for: input)
        guard isMoving, !isOpen else { return actions }
        isMoving = false
        return [.closeOther] + actions
    }

    private mutating func actions(for input: Input) -> [Action] {
        switch input {
        case .begin(let revision):
            nextRevision = revision.map { $0 + 1 }
            return open()
        case .response(let response): return take(response)
        case .ended(let failure): return fail(failure)
        case .silence(let duration):
            if isOpen, duration > renewal {
                // No probe sees that somebody has put an existing name by other means than this library.
                return [.close] + open()
            }
            return endPatience()
        case .waiting:
            if case .watching = state { return endPatience() }
            return []
        case .probed(.success(false)):
            guard case .probing = state else { return [] }
            state = .watching
            isSuspect = false
            return []
        case .probed(.success(true)): return doubt()
        case .probed(.failure(let failure)): return [.close] + fail(failure)
        case .move:
            guard mayMove, let nextRevision else { return [] }
            isMoving = true
            return [.openOther(from: nextRevision)]
        case .moved(let isOpen):
            guard isMoving else { return [] }
            isMoving = false
            guard isOpen else { return [.closeOther] }
            // What both tell is taken once, as each event before `nextRevision` is dropped.
            state = .watching
            return [.useOther, .becameConnected]
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

    private mutating func take(_ response: WatchResponse) -> [Action] {
        if response.compactRevision.value > 0 {
            // What lies between is gone: only a comparison of all tells what changed.
            nextRevision = nil
            return [.close] + open()
        }
        if response.canceled == true {
            return [.close] + fail(Self.failure(of: response))
        }
        if response.created == true, case .opening = state {
            state = .watching
            failures = 0
            return [.becameConnected]
        }
        guard state != .idle, state != .pausing, let expected = nextRevision else { return [] }
        if state != .opening { state = .watching }
        let events = (response.events ?? []).filter { $0.kv.modRevision.value >= expected }
        if let last = events.last {
            nextRevision = last.kv.modRevision.value + 1
            isSuspect = false
            return [.take(events)]
        }
        // An answer without events says that all up to its revision was told.
        if response.events == nil { nextRevision = max(expected, (response.header?.revision.value ?? 0) + 1) }
        return []
    }

    private mutating func endPatience() -> [Action] {
        switch state {
        case .idle, .rereading, .probing: return []
        case .opening: return [.close] + fail(.unreachable("the watch was not opened in time"))
        case .watching:
            state = .probing(isSecond: false)
            probeCount += 1
            return [.probe(isCounting: probeCount.isMultiple(of: Self.probesPerCount))]
        case .doubting:
            state = .probing(isSecond: true)
            return [.probe(isCounting: true)]
        case .pausing: return open()
        }
    }

    private mutating func doubt() -> [Action] {
        guard case .probing(let isSecond) = state else { return [] }
        guard isSecond else {
            // What it has may be on its way.
            state = .doubting
            return []
        }
        // A stream that is open and tells nothing. Where another one from the same revision tells nothing either, only a
        // comparison of all can help.
        if isSuspect { nextRevision = nil }
        isSuspect.toggle()
        return [.close, .becameDisconnected(.unreachable("the watch fell silent"))] + open()
    }

    private mutating func fail(_ failure: GatewayFailure) -> [Action] {
        failures += 1
        state = .pausing
        var actions: [Action] = [.becameDisconnected(failure)]
        if case .tokenRefused = failure { actions.append(.renewToken) } else { actions.append(.leaveEndpoint) }
        return actions
    }

    /// Why a server ended a watch: it says so in words alone.
    static func failure(of response: WatchResponse) -> GatewayFailure {
        let text = response.cancelReason ?? "the server ended the watch"
        if text.contains("permission denied") || text.contains("PermissionDenied") {
            return .refused(code: 7, message: text)
        }
        return GatewayFailure(ErrorResponse(code: text.contains("invalid auth token") ? 16 : 14, message: text))
    }
}
