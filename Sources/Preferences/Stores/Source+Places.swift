extension Source: ValueSource {
    package func path(of name: String?) -> String? { backend?.path(of: name) }

    package func line(of name: String) -> Int? { backend?.line(of: name) }

    var isWrittenByHand: Bool { backend?.isWrittenByHand ?? false }
}
