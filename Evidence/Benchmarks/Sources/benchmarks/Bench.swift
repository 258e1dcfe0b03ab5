import Measuring

/// The state that all rows of a run share.
final class Bench {
    let place: Place
    let effort: Effort
    /// The contenders that can't be measured here, and why.
    private(set) var skipped: [(name: String, problem: Unavailable)] = []

    init(_ place: Place, _ effort: Effort, sizes: [Int], isQuick: Bool) {
        (self.place, self.effort, self.sizes, self.isQuick) = (place, effort, sizes, isQuick)
    }

    /// Whether to show only that everything works.
    let isQuick: Bool

    /// The numbers of stored names, for the rows that compare them.
    let sizes: [Int]

    /// A number of names that only some peers open quickly enough for a row.
    var largest: Int { (sizes.last ?? 1) * 10 }

    /// More and shorter samples, most of which end before the scheduler runs another process; for operations that are
    /// quick and do nothing in the background.
    var shortEffort: Effort { Effort(rounds: effort.rounds * 2, length: effort.length / 4) }

    /// Returns an effort with fewer samples, for slow operations.
    func effort(part: Int) -> Effort { Effort(rounds: max(3, effort.rounds / part), length: effort.length) }

    func skip(_ name: String, _ problem: Unavailable) {
        if !skipped.contains(where: { $0.name == name }) { skipped.append((name, problem)) }
    }

    /// Returns a peer over a folder with the samples; nil, and noted as skipped, if it isn't installed.
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

/// A peer that holds the samples while this object exists.
final class FilledPeer {
    let kind: PeerKind
    let folder: String
    let samples: Samples
    let peer: any Peer

    init(kind: PeerKind, folder: String, samples: Samples, peer: any Peer) {
        (self.kind, self.folder, self.samples, self.peer) = (kind, folder, samples, peer)
    }

    deinit {
        // All of dconf is in one file, whose size would affect the next measurement.
        (peer as? GSettingsPeer)?.removeAll(samples)
    }
}
