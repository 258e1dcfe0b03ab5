/// The nodes of a store by name.
///
/// Names are compared as Swift strings are. Not a dictionary: the first one by strings looks up how these are hashed, among all
/// conformances in the process, which takes 200,000 instructions.
struct NodeTable {
    // Not a tuple: an array of tuples takes 28,000 instructions for the first one, one of this takes 11,000.
    struct Entry {
        let name: String
        let hash: Int
        let node: PreferenceNode
    }

    /// The nodes in the order in which they were added.
    private(set) var entries: [Entry] = []
    /// The number of each entry, from 1, in an open hash table by name; 0 for a free place. Its count is a power of two.
    private var places: [UInt32] = []

    var count: Int { entries.count }

    subscript(name: String) -> PreferenceNode? {
        if entries.isEmpty { return nil }
        let number = places[place(of: name, hash: name.hashValue)]
        return number == 0 ? nil : entries[Int(number) &- 1].node
    }

    /// Returns the node of a name, which is added if there is none.
    mutating func node(of name: String) -> PreferenceNode {
        if entries.count >= places.count / 4 * 3 { makePlaces(for: entries.count + 1) }
        let hash = name.hashValue
        let place = place(of: name, hash: hash)
        if places[place] != 0 { return entries[Int(places[place]) &- 1].node }
        let node = PreferenceNode()
        entries.append(Entry(name: name, hash: hash, node: node))
        places[place] = UInt32(entries.count)
        return node
    }

    /// Removes the nodes for which `isRemoved` returns true, and returns them.
    mutating func remove(where isRemoved: (PreferenceNode) -> Bool) -> [Entry] {
        // In one pass, as other threads may begin to use a node.
        let all = exchange(&entries, with: [])
        var removed: [Entry] = []
        for entry in all {
            if isRemoved(entry.node) { removed.append(entry) } else { entries.append(entry) }
        }
        // After a peak, neither the memory nor the time of later calls must be the peak's.
        makePlaces(for: entries.count)
        return removed
    }

    /// Returns the place of a name, or the free place at which it belongs.
    private func place(of name: String, hash: Int) -> Int {
        let mask = places.count &- 1
        var place = hash & mask
        while true {
            let number = Int(places[place])
            if number == 0 || entries[number &- 1].hash == hash && entries[number &- 1].name == name { return place }
            place = (place &+ 1) & mask
        }
    }

    /// Makes the table large enough for a number of entries, with at most three quarters of its places in use.
    private mutating func makePlaces(for entryCount: Int) {
        var count = 8
        while entryCount > count / 4 * 3 { count *= 2 }
        places = Array(repeating: 0, count: count)
        for index in entries.indices {
            var place = entries[index].hash & (count &- 1)
            while places[place] != 0 { place = (place &+ 1) & (count &- 1) }
            places[place] = UInt32(index &+ 1)
        }
    }
}
