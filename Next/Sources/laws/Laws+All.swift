extension Laws {
    static let laws: [Law] = [
        Law(name: "stacks", divisor: 1, check: { try await Stacks.check($0) }),
        Law(name: "closed", divisor: 4, check: { try ClosedStores.check($0) }),
        Law(name: "evolution", divisor: 1, check: { try Evolution.check($0) }),
    ]
}
