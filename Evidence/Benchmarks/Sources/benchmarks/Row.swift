import Measuring

/// A part of the measurements, with the name that the option takes.
struct Row: Sendable {
    let name: String
    let measure: @Sendable (Bench) throws -> Outcome

    static let all = [
        Row(name: "get", measure: GetRow.measure),
        Row(name: "threads", measure: ThreadsRow.measure),
        Row(name: "set", measure: SetRow.measure),
        Row(name: "durable", measure: DurableRow.measure),
        Row(name: "writers", measure: WritersRow.measure),
        Row(name: "open", measure: OpeningRow.measure),
        Row(name: "change", measure: ChangeRow.measure),
        Row(name: "idle", measure: IdleRow.measure),
        Row(name: "bytes", measure: BytesRow.measure),
        Row(name: "start", measure: StartRow.measure),
        Row(name: "client", measure: ClientRow.measure),
    ]
}

/// The results of a row.
struct Outcome {
    var tables: [Table] = []
    var aims: [Aim?] = []
}
