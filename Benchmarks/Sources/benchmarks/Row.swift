import Measuring

/// A part of what is measured, by the name that the option takes.
struct Row: Sendable {
    let name: String
    let measure: @Sendable (Bench) throws -> Outcome

    static let all = [
        Row(name: "get", measure: GetRow.measure),
        Row(name: "ways", measure: WaysRow.measure),
        Row(name: "threads", measure: ThreadsRow.measure),
        Row(name: "set", measure: SetRow.measure),
        Row(name: "durable", measure: DurableRow.measure),
    ]
}

/// What came of a row.
struct Outcome {
    var tables: [Table] = []
    var aims: [Aim?] = []
    var charts: [BarChart] = []

    static func += (outcome: inout Outcome, other: Outcome) {
        outcome.tables += other.tables
        outcome.aims += other.aims
        outcome.charts += other.charts
    }
}
