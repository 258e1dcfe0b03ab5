/// The result of asking the member of a watch what it has.
enum ProbeResult: Hashable, Sendable {
    case current
    /// The member has changes that the watch has not delivered.
    case behind
    /// The cluster was restored or replaced, and its revisions are others.
    case otherHistory
}
