/// The reals that JSON can't write, by the word that stands for them in a tag.
enum NonfiniteWord: String {
    case nan
    case infinity = "inf"
    case negativeInfinity = "-inf"

    /// The word for a real; nil for a finite one.
    init?(_ value: Double) {
        if value.isFinite { return nil }
        self = value.isNaN ? .nan : value > 0 ? .infinity : .negativeInfinity
    }

    var value: Double {
        switch self {
        case .nan: .nan
        case .infinity: .infinity
        case .negativeInfinity: -.infinity
        }
    }
}
