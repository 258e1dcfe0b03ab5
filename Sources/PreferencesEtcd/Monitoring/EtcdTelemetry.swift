internal import Preferences

/// The purpose of a request.
enum RequestKind: String, Sendable {
    case read, write, probe, authenticate
}

/// The result of asking the member of a watch what it has.
enum ProbeResult: Hashable, Sendable {
    case current
    /// The member has changes that the watch has not delivered.
    case behind
    /// The cluster was restored or replaced, and its revisions are others.
    case otherHistory
}

/// An event to log or count, without values, passwords or tokens.
enum EtcdEvent: Sendable {
    /// An attempt at one endpoint has ended; without a failure it was answered.
    case attempt(RequestKind, failure: GatewayFailure?, Duration)
    /// An attempt failed, and is repeated after a pause.
    case retry(endpoint: String, reason: GatewayFailure, pause: Duration)
    case connected(to: String, isAgain: Bool)
    case disconnected(PreferenceError)
    /// The store was released, and with it the connection.
    case released
    /// The store has all changes up to another revision of the cluster.
    case advanced(to: Int64)
    /// The watch moved to another connection.
    case moved(to: String)
    /// The files of the certificates were changed: new connections use them, or can't because of the error.
    case certificates(PreferenceError?)
    /// The watch received this number of events.
    case received(Int)
    /// A probe has ended: whether the member has changes that the watch has not delivered.
    case probed(Result<ProbeResult, GatewayFailure>)
    /// An attempt at a write failed because another process had changed its keys; it is repeated with the new values.
    case conflict
}

#if !Etcd
extension EtcdConfiguration {
    /// Returns a closure that does nothing, as there is neither a log nor metrics without the trait.
    func recorder(suite: String) -> @Sendable (EtcdEvent) -> Void { { _ in } }
}
#endif

#if Etcd
internal import CoreMetrics
internal import Logging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension EtcdConfiguration {
    /// Returns a closure that logs and counts events.
    func recorder(suite: String) -> @Sendable (EtcdEvent) -> Void {
        var logger = logger
        logger?[metadataKey: "suite"] = .string(suite)
        let telemetry = EtcdTelemetry(suite: suite, logger: logger, factory: metrics)
        return { telemetry.record($0) }
    }
}

/// A recorder that logs and counts events.
private struct EtcdTelemetry: Sendable {
    let suite: String
    let logger: Logger?
    /// `nil` for the factory that the program has bootstrapped.
    let factory: (any MetricsFactory)?

    func record(_ event: EtcdEvent) {
        count(event)
        if let logger { log(event, to: logger) }
    }

    // MARK: Metrics

    private func count(_ event: EtcdEvent) {
        switch event {
        case .attempt(let kind, let failure, let duration):
            let kind = ("kind", kind.rawValue)
            increment("requests_total", kind, ("outcome", failure?.outcome ?? "ok"))
            let (seconds, attoseconds) = duration.components
            Timer(label: Self.label("request_duration"), dimensions: dimensions(kind), factory: current)
                .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            if failure == nil { recordContact() }
        case .connected(_, let isAgain):
            set("connected", to: 1)
            if isAgain { increment("watch_reconnections_total") }
        case .disconnected, .released: set("connected", to: 0)
        case .advanced(let revision): set("revision", to: revision)
        case .moved: increment("watch_moves_total")
        case .received(let events):
            increment("watch_events_total", by: events)
            recordContact()
        case .probed(.success(let probe)):
            increment("probes_total", ("outcome", probe == .current ? "current" : "behind"))
        case .probed(.failure): increment("probes_total", ("outcome", "failed"))
        case .conflict: increment("write_conflicts_total")
        case .retry, .certificates: break
        }
    }

    private var current: any MetricsFactory { factory ?? MetricsSystem.factory }

    /// Sets the time of the last answer, which shows how old the values may be while the watch is silent.
    private func recordContact() { set("last_contact_timestamp_seconds", to: Date().timeIntervalSince1970) }

    private func set(_ name: String, to value: some BinaryInteger) { set(name, to: Double(value)) }

    private func set(_ name: String, to value: Double) {
        Gauge(label: Self.label(name), dimensions: dimensions(), factory: current).record(value)
    }

    private func increment(_ name: String, _ more: (String, String)..., by amount: Int = 1) {
        Counter(label: Self.label(name), dimensions: [("suite", suite)] + more, factory: current).increment(by: amount)
    }

    private func dimensions(_ more: (String, String)...) -> [(String, String)] { [("suite", suite)] + more }

    private static func label(_ name: String) -> String { "preferences_etcd_" + name }

    // MARK: Log

    private func log(_ event: EtcdEvent, to logger: Logger) {
        switch event {
        case .connected(let endpoint, _): logger.info("connected to etcd", metadata: ["endpoint": "\(endpoint)"])
        case .disconnected(let error):
            logger.warning("disconnected from etcd", metadata: ["reason": "\(error.message)"])
        case .moved(let endpoint):
            logger.info("the watch moved to another connection", metadata: ["endpoint": "\(endpoint)"])
        case .certificates(nil): logger.info("new connections use the changed certificates")
        case .certificates(let error?):
            logger.error("the changed certificates can't be used", metadata: ["reason": "\(error)"])
        case .retry(let endpoint, let reason, let pause):
            logger.debug(
                "a request is repeated",
                metadata: ["endpoint": "\(endpoint)", "reason": "\(reason.text)", "pause": "\(pause)"]
            )
        case .attempt, .received, .probed, .conflict, .released, .advanced: break
        }
    }
}

extension GatewayFailure {
    /// The value of the dimension `outcome`.
    fileprivate var outcome: String {
        switch self {
        case .unconnected: "unconnected"
        case .unreachable: "unreachable"
        case .transient: "transient"
        case .tokenRefused: "token_refused"
        case .noPassword: "no_password"
        case .refused: "refused"
        case .notUnderstood: "not_understood"
        }
    }
}
#endif
