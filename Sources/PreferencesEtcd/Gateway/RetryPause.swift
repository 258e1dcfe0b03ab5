/// How long to wait before the next attempt: not at all while there are endpoints to try, then ever longer, ±50 %.
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

    /// 50 ms after the first failure, twice as long after each further one, and 1 s at most.
    static func pause(after failures: Int) -> Duration {
        min(.seconds(1), .milliseconds(50) * (1 << min(max(failures - 1, 0), 10)))
    }
}

extension Duration {
    /// The duration, shortened or extended by up to a share of it, so that clients don't come back in step.
    ///
    /// - Parameter random: A number in 0..<1; 0.5 leaves the duration as it is.
    func jittered(by share: Double, _ random: Double) -> Duration {
        self * (1 + share * (2 * random - 1))
    }
}
