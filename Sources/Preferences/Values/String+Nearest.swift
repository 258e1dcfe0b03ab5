extension String {
    /// Returns the word that was probably meant by this one if that is a typing mistake; `nil` if no word is close enough.
    ///
    /// One character in three may be wrong; upper and lower case are the same.
    package func nearest(among words: some Sequence<String>) -> String? {
        let typed = Array(lowercased())
        let near = words.compactMap { word -> (word: String, distance: Int)? in
            let distance = Self.distance(typed, Array(word.lowercased()))
            return distance <= max(typed.count, word.count) / 3 && word != self ? (word, distance) : nil
        }
        return near.min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
    }

    /// Returns the number of characters to add, remove, replace or exchange with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        // Long words are not typing mistakes.
        guard abs(left.count - right.count) <= 64, left.count <= 1000 else { return .max }
        var (before, last, row) = ([Int](), [Int](), Array(0...right.count))
        for (i, character) in left.enumerated() {
            (before, last) = (last, row)
            row = [i + 1]
            for (j, other) in right.enumerated() {
                var least = Swift.min(last[j] + (character == other ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, character == right[j - 1], other == left[i - 1] {
                    least = Swift.min(least, before[j - 1] + 1)
                }
                row.append(least)
            }
        }
        return row[right.count]
    }
}
