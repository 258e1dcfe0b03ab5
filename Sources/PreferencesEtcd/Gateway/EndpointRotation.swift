/// The endpoints, of which one is current and the next is tried if that doesn't answer.
struct EndpointRotation: Hashable, Sendable {
    /// The endpoints in the order in which they are tried.
    let endpoints: [String]
    private var index = 0

    /// Creates a rotation of at least one endpoint in random order, so that the clients of a member that ends spread over all
    /// remaining ones.
    init(_ endpoints: [String], random: () -> Double) {
        var endpoints = endpoints
        for index in endpoints.indices.dropLast() {
            endpoints.swapAt(index, index + Int(random() * Double(endpoints.count - index)))
        }
        self.endpoints = endpoints
    }

    var current: String { endpoints[index] }

    /// Advances to the next endpoint, unless another thread has done so since `endpoint` was tried.
    mutating func leave(_ endpoint: String) {
        guard endpoint == current else { return }
        index = (index + 1) % endpoints.count
    }

    /// Selects an endpoint as the current one.
    mutating func use(_ endpoint: String) {
        index = endpoints.firstIndex(of: endpoint) ?? index
    }
}
