/// A stored value that may answer for a name.
struct StoredCandidate: Equatable, Sendable {
    let value: PropertyListValue
    /// Whether the value is text that a person wrote for a declared type.
    var isText = false
    /// The layer it stands in; nil for the one that takes the writes.
    var layer: String?
}

/// What may answer for a name, the strongest first.
typealias StoredCandidates = ShortList<StoredCandidate>

extension ShortList<StoredCandidate> {
    init(_ value: PropertyListValue?) {
        self.init()
        if let value { append(StoredCandidate(value: value)) }
    }

    /// The first that `canRead` says yes to.
    func first(where canRead: (StoredCandidate) -> Bool) -> StoredCandidate? {
        firstResult { canRead($0) ? $0 : nil }
    }
}
