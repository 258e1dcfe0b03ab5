/// How long to wait before the next attempt: not at all while there are endpoints to try, then ever longer.
struct RetryPause: Hashable, Sendable {
    static let shortest = Duration.milliseconds(50)
    static let longest = Duration.seconds(1)

    private let endpointCount: Int
    private var failures = 0

    init(endpointCount: Int) { self.endpointCount = endpointCount }

    mutating func next() -> Duration {
        failures += 1
        guard failures % endpointCount == 0 else { return .zero }
        let doublings = min(failures / endpointCount - 1, 10)
        return min(Self.longest, Self.shortest * (1 << doublings))
    }
}
