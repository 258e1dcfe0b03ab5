import Measuring

/// What all rows of a run share.
final class Bench {
    let place: Place
    let effort: Effort
    /// What can't be measured here, and why.
    private(set) var skipped: [(name: String, problem: Unavailable)] = []

    init(_ place: Place, _ effort: Effort, sizes: [Int]) {
        (self.place, self.effort, self.sizes) = (place, effort, sizes)
    }

    /// How many names are stored, in the rows that are about that.
    let sizes: [Int]

    /// A number of names that only some peers open quickly enough for a row.
    var largest: Int { (sizes.last ?? 1) * 10 }

    /// More and shorter samples, most of which are over before the scheduler lets another process run; for what is quick and has
    /// no part in the background.
    var shortEffort: Effort { Effort(rounds: effort.rounds * 2, length: effort.length / 4) }

    /// Fewer samples, for what takes long.
    func effort(part: Int) -> Effort { Effort(rounds: max(3, effort.rounds / part), length: effort.length) }

    func skip(_ name: String, _ problem: Unavailable) {
        if !skipped.contains(where: { $0.name == name }) { skipped.append((name, problem)) }
    }

    /// A peer over a folder that is filled; nil, and noted, where it isn't installed.
    func filled(_ kind: PeerKind, _ samples: Samples) throws -> FilledPeer? {
        if kind.needsBus, let problem = place.busProblem {
            skip(kind.name, Unavailable(problem))
            return nil
        }
        do {
            let folder = try place.folder()
            return FilledPeer(kind: kind, folder: folder, samples: samples, peer: try kind.filled(folder, samples))
        } catch let error as Unavailable {
            skip(kind.name, error)
            return nil
        }
    }

    func filled(_ kinds: [PeerKind], _ samples: Samples) throws -> [FilledPeer] {
        try kinds.compactMap { try filled($0, samples) }
    }
}

/// A peer that holds what is measured, as long as this object lives.
final class FilledPeer {
    let kind: PeerKind
    let folder: String
    let samples: Samples
    let peer: any Peer

    init(kind: PeerKind, folder: String, samples: Samples, peer: any Peer) {
        (self.kind, self.folder, self.samples, self.peer) = (kind, folder, samples, peer)
    }

    deinit {
        // All of dconf lies in one file, whose size the next measurement would meet.
        (peer as? GSettingsPeer)?.removeAll(samples)
    }
}
