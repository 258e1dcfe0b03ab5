import Foundation

/// A peer and what it promises, by the name that the tables use.
struct PeerKind: Sendable {
    let name: String
    /// The file of the C library, if the peer is one.
    let library: String?
    /// The name without the promise, unless that also affects reads.
    let product: String

    private let opening: @Sendable (_ folder: String) throws -> any Peer

    private init(
        _ name: String,
        library: String? = nil,
        product: String? = nil,
        _ opening: @escaping @Sendable (_ folder: String) throws -> any Peer
    ) {
        self.name = name
        self.library = library
        self.product = product ?? String(name.prefix { $0 != "," })
        self.opening = opening
    }

    /// Opens a peer that was filled before.
    func open(_ folder: String) throws -> any Peer { try opening(folder) }

    /// Opens the peer over a new folder and stores the samples.
    func filled(_ folder: String, _ samples: Samples) throws -> any Peer {
        if needsBus { try GSettingsPeer.makeSchema(folder, samples) }
        let peer = try open(folder)
        try peer.set(samples.contents())
        return peer
    }

    var needsBus: Bool { name == Self.dconf.name || name == Self.dconfQueued.name }

    static let userDefaults = PeerKind("UserDefaults, saved") { folder in
        try UserDefaultsPeer(suite: URL(filePath: folder).lastPathComponent, isSaved: true)
    }
    static let userDefaultsUnsaved = PeerKind("UserDefaults, unsaved") { folder in
        try UserDefaultsPeer(suite: URL(filePath: folder).lastPathComponent, isSaved: false)
    }
    static let sqlite = PeerKind("SQLite, NORMAL", library: SQLitePeer.library) { try SQLitePeer($0, .normal) }
    static let sqliteFull = PeerKind("SQLite, FULL", library: SQLitePeer.library) { try SQLitePeer($0, .full) }
    static let lmdb = PeerKind("LMDB, NOSYNC", library: LMDBPeer.library) { try LMDBPeer($0, isSynced: false) }
    static let lmdbSynced = PeerKind("LMDB", library: LMDBPeer.library) { try LMDBPeer($0, isSynced: true) }
    static let dconf = PeerKind("dconf", library: GSettingsPeer.library) { try GSettingsPeer($0, isWaiting: true) }
    static let dconfQueued = PeerKind("dconf, queued", library: GSettingsPeer.library) {
        try GSettingsPeer($0, isWaiting: false)
    }
    static let json = PeerKind("JSON file") { try RewrittenFilePeer($0) }

    static let mmkv = mmkv("MMKV, one process", .oneProcess)
    static let mmkvShared = mmkv("MMKV, many processes", .manyProcesses)

    private static func mmkv(_ name: String, _ mode: MMKVPeer.Mode) -> PeerKind {
        PeerKind(name, library: MMKVPeer.library, product: name) { try MMKVPeer($0, mode) }
    }

    static let mmkvSynced = PeerKind("MMKV, synced", library: MMKVPeer.library) {
        try MMKVPeer($0, .manyProcesses, isSynced: true)
    }

    static let all = [
        userDefaults, userDefaultsUnsaved, sqlite, sqliteFull, lmdb, lmdbSynced, dconf, dconfQueued, json, mmkv,
        mmkvShared, mmkvSynced,
    ]

    static func named(_ name: String) throws -> PeerKind {
        guard let kind = all.first(where: { $0.name == name }) else { throw Failure("no peer is named \(name)") }
        return kind
    }
}
