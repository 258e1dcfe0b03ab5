/// Which endpoint is asked, and which next if it doesn't answer.
struct EndpointRotation: Hashable, Sendable {
    /// In the order in which they are tried.
    let endpoints: [String]
    private var index = 0

    /// Takes at least one endpoint, and puts them into a random order, so that clients of a member that ends spread over
    /// all others.
    init(_ endpoints: [String], random: () -> Double) {
        var endpoints = endpoints
        for index in endpoints.indices.dropLast() {
            endpoints.swapAt(index, index + Int(random() * Double(endpoints.count - index)))
        }
        self.endpoints = endpoints
    }

    var current: String { endpoints[index] }

    /// Goes on to the next one, unless somebody else did since `endpoint` was asked.
    mutating func leave(_ endpoint: String) {
        guard endpoint == current else { return }
        index = (index + 1) % endpoints.count
    }

    /// Makes an endpoint the one that is asked.
    mutating func use(_ endpoint: String) {
        index = endpoints.firstIndex(of: endpoint) ?? index
    }
}
