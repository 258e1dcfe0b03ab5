/// Which endpoint is asked, and which next where it doesn't answer.
struct EndpointRotation: Hashable, Sendable {
    let endpoints: [String]
    private var index = 0

    /// Takes at least one endpoint.
    init(_ endpoints: [String]) {
        self.endpoints = endpoints
    }

    var current: String { endpoints[index] }

    /// Goes on to the next one, unless somebody else did since `endpoint` was asked.
    mutating func leave(_ endpoint: String) {
        guard endpoint == current else { return }
        index = (index + 1) % endpoints.count
    }
}
