extension Source: ValueSource {
    func path(of name: String?) -> String? { backend?.path(of: name) }

    func line(of name: String) -> Int? { backend?.line(of: name) }

    var isWrittenByHand: Bool { backend?.isWrittenByHand ?? false }
}
