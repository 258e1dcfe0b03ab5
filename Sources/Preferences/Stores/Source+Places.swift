extension Source: ValueSource {
    func path(of name: String?) -> String? { placed?.path(of: name) }

    func line(of name: String) -> Int? { placed?.line(of: name) }

    var isWrittenByHand: Bool { placed?.isWrittenByHand ?? false }

    // Not kept, as only messages need it: a cast to a protocol is slow.
    private var placed: (any PlacedBackend)? { backend as? any PlacedBackend }
}
