extension Laws {
    static let laws: [Law] = [Law(name: "stacks", divisor: 1, check: { try await Stacks.check($0) })]
}
