/// Why a line can't be read.
struct JSONLineError: Error, Equatable {
    enum Kind {
        /// The line is not what this program would write, and nothing that follows can make it so.
        case damaged
        /// The line ends before its object does, so it may be one that is still being written.
        case incomplete
        /// The file says that it is of a format newer than this program.
        case unknownFormat
    }

    let kind: Kind
    /// What is wrong, to be read after the line's number.
    let reason: String
    /// Where in the line, in bytes from its start.
    let offset: Int
}

extension JSONLineError: CustomStringConvertible {
    var description: String { "\(reason), at byte \(offset)" }
}
