/// The pause before the next attempt: none until each endpoint was tried, then increasing ones, ±50 %.
struct RetryPause: Sendable {
    private let endpointCount: Int
    private let random: @Sendable () -> Double
    private var failures = 0

    init(endpointCount: Int, random: @escaping @Sendable () -> Double) {
        self.endpointCount = endpointCount
        self.random = random
    }

    mutating func next() -> Duration {
        failures += 1
        guard failures % endpointCount == 0 else { return .zero }
        return Self.pause(after: failures / endpointCount).jittered(by: 0.5, random())
    }

    /// The longest pause of a store without a watch, and the longest wait for a busy server.
    static let longest = Duration.seconds(30)

    /// Returns 50 ms after the first failure, and twice as much after each further one, up to a limit.
    ///
    /// - Parameters:
    ///   - failures: The number of failures in a row.
    ///   - limit: The limit; 1 s for a call, which has some seconds, `longest` for a store that waits for a server.
    static func pause(after failures: Int, atMost limit: Duration = .seconds(1)) -> Duration {
        min(limit, .milliseconds(50) * (1 << min(max(failures - 1, 0), 10)))
    }

    /// Returns the pause after conflicts in a row: none after each odd one, as the next request at once, with the values of the answer,
    /// is the likeliest to be stored while another process writes without a pause; after the second one up to 1 ms, and up to twice
    /// as much after each further even one, but at most 64 ms.
    static func pause(afterConflicts count: Int, random: Double) -> Duration {
        guard count > 0, count.isMultiple(of: 2) else { return .zero }
        return .milliseconds(1) * (1 << min(count / 2 - 1, 6)) * random
    }
}

extension Duration {
    /// Returns the duration, shortened or extended by up to a share of it, so that clients don't retry at the same time.
    ///
    /// - Parameters:
    ///   - share: The largest deviation, as a fraction of the duration.
    ///   - random: A number in 0..<1; 0.5 leaves the duration unchanged.
    func jittered(by share: Double, _ random: Double) -> Duration {
        self * (1 + share * (2 * random - 1))
    }
}
