internal import CDurableFile

/// The state of a watcher: the files that it watches, and how. It decides what to do when, but doesn't wait itself.
struct WatcherState: Sendable {
    private var files = Files()
    /// The files that each entry of a watched folder concerns; nil when that has changed.
    private var index: [Place: [Int]]?
    /// The timers of the files that aren't idle.
    private var timers: [Int: QuietTimer] = [:]
    private var lastNumber = 0
    private(set) var queue: OpenFile?
    /// The number of the thread that serves the files; a thread with another number ends.
    private(set) var thread: Int?
    /// The report that the thread makes.
    var report = ReportTimer()
    private var forks: UInt64 = 0
    private var nextPoll: Duration?
    private var polls = 0
    /// How long after the first file was added the kernel's events are requested; nil once they are.
    private var delay: Duration?
    private var start: Duration?

    /// The interval at which a file without events is polled.
    static let pollInterval = Duration.milliseconds(500)
    /// How often at most a file that changes is looked at for new links.
    static let nameLookInterval = Duration.seconds(1)
    /// The number of polls after which events are requested again.
    static let pollsBeforeArming = 20

    private struct File: Sendable {
        let path: String
        /// Whether the path is that of a folder, whose names are watched.
        let isFolder: Bool
        let body: Watcher.Body
        /// The number of each watched folder, and the name in it; nil if the file has to be polled.
        var entries: [(watch: Int32, name: String)]?
        var lastLook: Look?
        /// When the file is looked at for new links the next time that it changes.
        var nextNameLook = Duration.zero
        /// Whether a polled file has changed since the poll before the last one: it might have changed again at the same time.
        var hasJustChanged = false

        func isWatched(by watch: Int32) -> Bool { entries?.contains { $0.watch == watch } ?? false }
    }

    /// The files by their numbers.
    ///
    /// Not a dictionary: the first one looks up how a number is hashed, which took each program some 50 µs.
    private struct Files: Sendable {
        // Not a tuple, whose type takes twice as long to be created.
        struct Entry {
            let number: Int
            var file: File
        }

        /// The files, ordered by number.
        private(set) var all: [Entry] = []

        var numbers: [Int] { all.map(\.number) }

        subscript(number: Int) -> File? {
            get {
                let place = place(of: number)
                return place < all.count && all[place].number == number ? all[place].file : nil
            }
            set {
                let place = place(of: number)
                let isKnown = place < all.count && all[place].number == number
                switch (newValue, isKnown) {
                case (let file?, true): all[place].file = file
                // Inserting creates one more type, which takes 10,000 instructions the first time.
                case (let file?, false) where place == all.count: all.append(Entry(number: number, file: file))
                case (let file?, false): all.insert(Entry(number: number, file: file), at: place)
                case (nil, true): all.remove(at: place)
                case (nil, false): break
                }
            }
        }

        /// Whether a file that has changed has to be looked at for new links; doesn't copy it.
        func mustLookForNames(_ number: Int, at now: Duration) -> Bool {
            let place = place(of: number)
            return place < all.count && all[place].number == number && all[place].file.nextNameLook <= now
        }

        /// Returns the index of a number, or the index at which to insert it.
        private func place(of number: Int) -> Int {
            var (start, end) = (0, all.count)
            while start < end {
                let middle = (start + end) / 2
                if all[middle].number < number { start = middle + 1 } else { end = middle }
            }
            return start
        }
    }

    /// A name in a watched folder, as events have it.
    private struct Place: Hashable {
        let watch: Int32
        let name: String
    }

    /// The state of a polled file when it was last looked at.
    private struct Look: Equatable {
        let status: FileStatus
        let times: ChangeTimes
    }

    init(startingAfter delay: Duration = .zero) {
        self.delay = delay == .zero ? nil : delay
    }

    /// Begins to watch a file; the second result is the number of a thread that has to be started, if any.
    mutating func add(
        _ path: String,
        isFolder: Bool = false,
        _ body: @escaping Watcher.Body,
        _ fileSystem: any FileSystem
    ) -> (Int, thread: Int?) {
        resetAfterFork()
        lastNumber += 1
        let number = lastNumber
        files[number] = File(path: path, isFolder: isFolder, body: body)
        if let delay {
            start = start ?? fileSystem.now() + delay
        } else {
            arm(number, fileSystem)
        }
        if thread != nil { return (number, nil) }
        thread = number
        return (number, number)
    }

    mutating func remove(_ number: Int, _ fileSystem: any FileSystem) {
        resetAfterFork()
        timers[number] = nil
        index = nil
        let watches = Set(files[number]?.entries?.map(\.watch) ?? [])
        files[number] = nil
        removeUnused(watches, fileSystem)
        if files.all.isEmpty { end() }
    }

    /// Drops the queue and the thread in a child of `fork`: the queue is the parent's, and the thread is not in this
    /// process.
    mutating func resetAfterFork() {
        let current = durable_file_fork_count()
        guard forks != current else { return }
        forks = current
        end()
        report = ReportTimer()
        index = nil
        timers = [:]
        for number in files.numbers { files[number]?.entries = nil }
        // The next thread watches all of them, and looks at each: it might have changed since.
        if !files.all.isEmpty { start = .zero }
    }

    /// Returns the number of a thread that has to be started, if files are watched and there is none.
    mutating func resume() -> Int? {
        resetAfterFork()
        guard thread == nil, !files.all.isEmpty else { return nil }
        lastNumber += 1
        thread = lastNumber
        return lastNumber
    }

    /// Drops the queue and the thread, which ends or could not be started.
    mutating func end() {
        thread = nil
        report.end()
        queue = nil
        nextPoll = nil
    }

    // MARK: Reports

    /// Notes that a thread begins a report; returns whether another one has to look later how long it lasts.
    mutating func beginReport(on thread: Int, at now: Duration) -> Bool {
        thread == self.thread && report.begin(at: now)
    }

    /// Notes that a thread has ended its report; another one might watch by now.
    mutating func endReport(on thread: Int) { if thread == self.thread { report.end() } }

    /// Returns the number of the calling thread, which watches from now on, if the one that did so still makes a long report.
    mutating func takeOver(at now: Duration) -> Int? {
        guard thread != nil, report.isLong(at: now) else { return nil }
        report.end()
        lastNumber += 1
        thread = lastNumber
        return lastNumber
    }

    /// Watches the folders that count for a file now; polls the file if one of them can't be watched.
    private mutating func arm(_ number: Int, _ fileSystem: any FileSystem) {
        guard var file = files[number] else { return }
        let before = Set(file.entries?.map(\.watch) ?? [])
        file.entries = entries(of: file, fileSystem)
        index = nil
        if file.entries == nil, nextPoll == nil { nextPoll = fileSystem.now() + Self.pollInterval }
        files[number] = file
        removeUnused(before, fileSystem)
    }

    private mutating func entries(of file: File, _ fileSystem: any FileSystem) -> [(watch: Int32, name: String)]? {
        do throws(FileSystemError) {
            if queue == nil { queue = try fileSystem.makeEventQueue() }
            guard let queue else { return nil }
            let path = LogPath(path: file.path)
            var known = try path.walk(fileSystem).entries
            // A folder that is created or replaced between the walk and the watch would be missed.
            for _ in 0..<5 {
                guard let watches = try watches(known, file, queue, fileSystem) else { return nil }
                let now = try path.walk(fileSystem).entries
                if now == known { return watches }
                known = now
            }
            return nil
        } catch {
            return nil
        }
    }

    /// Watches the folder of each entry, and the file if it might change under another name; nil if the file has to be
    /// polled.
    private func watches(
        _ entries: [WatchedEntry],
        _ file: File,
        _ queue: OpenFile,
        _ fileSystem: any FileSystem
    ) throws(FileSystemError) -> [(watch: Int32, name: String)]? {
        var watches: [(watch: Int32, name: String)] = []
        var isComplete = false
        defer { if !isComplete { removeUnused(Set(watches.map(\.watch)), fileSystem) } }
        for (index, entry) in entries.enumerated() {
            let isLast = index == entries.count - 1
            let isOnTheWay = !isLast && !entry.isLink
            if !isOnTheWay, try fileSystem.isRemote(entry.folder) { return nil }
            do {
                let namesOnly = !isLast || file.isFolder
                let watch = try fileSystem.addWatch(queue, folder: entry.folder, namesOnly: namesOnly)
                watches.append((watch, entry.name))
            } catch {
                // A folder that this user can traverse but not read; it is rarely replaced.
                if !isOnTheWay || !error.deniesWriting { throw error }
            }
        }
        let path = file.path
        do {
            if file.isFolder {
                if try fileSystem.isRemote(path) { return nil }
                watches.append((try fileSystem.addWatch(queue, folder: path, namesOnly: true), Self.anyName))
            } else if try fileSystem.hasOtherNames(path) {
                // The file that is mounted might be on another machine than its folder.
                if try fileSystem.isRemote(path) { return nil }
                watches.append((try fileSystem.addWatch(queue, file: path), ""))
            }
        } catch { if !error.hidesEntry { throw error } }
        isComplete = true
        return watches
    }

    /// The name of the entry of a watched folder that stands for all names, and that no file has.
    private static let anyName = "/"

    private func removeUnused(_ watches: Set<Int32>, _ fileSystem: any FileSystem) {
        guard let queue, !watches.isEmpty else { return }
        let used = Set(files.all.flatMap { $0.file.entries?.map(\.watch) ?? [] })
        for watch in watches.subtracting(used) {
            // The watch of a folder that is gone has gone with it.
            do { try fileSystem.removeWatch(queue, watch) } catch {}
        }
    }

    // MARK: The thread's work

    /// The events of one file.
    struct Hit: Equatable, Sendable {
        /// Whether all of a large file has to be compared.
        var isWhole: Bool
        /// Whether a complete file was renamed to the path.
        var isArrival = false
        /// Whether the last event was that a program has closed the file after writing to it.
        var isClosed = false

        mutating func add(_ kind: FolderEvent.Kind) {
            if kind != .content { isWhole = true }
            isClosed = kind == .closed
            switch kind {
            case .arrived: isArrival = true
            // A file that was created or removed since might be incomplete again.
            case .name, .folderGone, .overflow: isArrival = false
            case .content, .closed: break
            }
        }
    }

    /// The events by the number of their file.
    typealias Hits = [Int: Hit]

    /// Returns the files to look at because of events, of polling, or because they are watched from now on.
    mutating func touched(by events: [FolderEvent], at now: Duration, _ fileSystem: any FileSystem) -> Hits {
        var touched = files(with: events, at: now, fileSystem)
        if nextPoll != nil { touched.merge(polled(at: now, fileSystem)) { hit, _ in hit } }
        if start != nil { touched.merge(started(at: now, fileSystem)) { hit, _ in hit } }
        return touched
    }

    /// Returns the files to look at because of events.
    private mutating func files(with events: [FolderEvent], at now: Duration, _ fileSystem: any FileSystem) -> Hits {
        var touched: Hits = [:]
        var moved: Set<Int> = []
        for event in events {
            let hit =
                switch event.kind {
                case .overflow: files.numbers
                case .folderGone: files.all.filter { $0.file.isWatched(by: event.watch) }.map(\.number)
                case .content, .closed: numbers(at: Place(watch: event.watch, name: event.name))
                case .arrived, .name:
                    numbers(at: Place(watch: event.watch, name: event.name))
                        + numbers(at: Place(watch: event.watch, name: Self.anyName))
                }
            for number in hit {
                touched[number, default: Hit(isWhole: false)].add(event.kind)
                if event.kind != .content, event.kind != .closed { moved.insert(number) }
            }
        }
        // A link that is added to a file has no event in the file's folder; to look for one at each event would be slow.
        for number in touched.keys
        where (moved.isEmpty || !moved.contains(number)) && files.mustLookForNames(number, at: now) {
            files[number]?.nextNameLook = now + Self.nameLookInterval
            if hasNewName(number, fileSystem) { moved.insert(number) }
        }
        for number in moved { arm(number, fileSystem) }
        return touched
    }

    /// Whether a file that is watched by its name alone might change under another name, too.
    private func hasNewName(_ number: Int, _ fileSystem: any FileSystem) -> Bool {
        guard let file = files[number], let entries = file.entries, !file.isFolder,
            !entries.contains(where: { $0.name.isEmpty })
        else {
            return false
        }
        do { return try fileSystem.hasOtherNames(file.path) } catch { return false }
    }

    private mutating func numbers(at place: Place) -> [Int] {
        if let index { return index[place] ?? [] }
        var made: [Place: [Int]] = [:]
        for watched in files.all {
            for entry in watched.file.entries ?? [] {
                let place = Place(watch: entry.watch, name: entry.name)
                // A path through links might pass a name twice.
                if made[place]?.last != watched.number { made[place, default: []].append(watched.number) }
            }
        }
        index = made
        return made[place] ?? []
    }

    /// Returns the polled files that have changed.
    private mutating func polled(at now: Duration, _ fileSystem: any FileSystem) -> Hits {
        guard let nextPoll, nextPoll <= now else { return [:] }
        polls += 1
        var changed: Hits = [:]
        var isPolling = false
        for watched in files.all where watched.file.entries == nil {
            let (number, file) = (watched.number, watched.file)
            isPolling = true
            let look: Look?
            do {
                let times = try fileSystem.changeTimes(at: file.path)
                look = Look(status: try fileSystem.status(at: file.path), times: times)
            } catch { look = nil }
            let isChanged = look != file.lastLook
            if isChanged || file.hasJustChanged { changed[number] = Hit(isWhole: true) }
            files[number]?.lastLook = look
            files[number]?.hasJustChanged = isChanged
            guard polls.isMultiple(of: Self.pollsBeforeArming) else { continue }
            // Whatever the kernel had none of, another program might have released.
            arm(number, fileSystem)
            if files[number]?.entries != nil { changed[number] = Hit(isWhole: true) }
        }
        self.nextPoll = isPolling ? now + Self.pollInterval : nil
        return changed
    }

    /// Watches the files that were added during the delay, once that is over; any of them might have changed since.
    mutating func started(at now: Duration, _ fileSystem: any FileSystem) -> Hits {
        guard let start, start <= now else { return [:] }
        self.start = nil
        delay = nil
        for number in files.numbers { arm(number, fileSystem) }
        return Hits(uniqueKeysWithValues: files.numbers.map { ($0, Hit(isWhole: true)) })
    }

    /// Notes the result of looking at a file; nil if that wasn't possible.
    mutating func note(_ number: Int, _ hit: Hit, _ finding: WatchFinding?, at now: Duration) {
        // Lines that a program appends while it keeps the file open leave nothing to compare. A program that closes the
        // file might have overwritten earlier lines.
        guard files[number] != nil, finding?.isComplete != true || hit.isWhole || timers[number] != nil else { return }
        timers[number, default: QuietTimer()].note(
            at: now,
            isBlank: finding?.isBlank ?? false,
            isBeingSaved: finding?.isBeingSaved == true && !hit.isClosed,
            isWhole: hit.isWhole
        )
    }

    /// Returns the files that have become idle.
    mutating func idle(at now: Duration, except touched: Hits) -> Hits {
        var idle: Hits = [:]
        for (number, timer) in timers where touched[number] == nil {
            guard let isWhole = timer.isWhole(at: now) else { continue }
            idle[number] = Hit(isWhole: isWhole)
            timers[number] = nil
        }
        return idle
    }

    /// Drops the queue of events and polls the files.
    mutating func fallBackToPolling(at now: Duration) {
        queue = nil
        nextPoll = now
        index = nil
        for number in files.numbers { files[number]?.entries = nil }
    }

    /// The time at which there is something to do without an event.
    var deadline: Duration? {
        let first = [start, nextPoll].compactMap(\.self).min()
        return timers.isEmpty ? first : timers.values.reduce(first) { min($0 ?? $1.due, $1.due) }
    }

    /// Whether a file is polled; false before it is watched.
    func isPolled(_ number: Int) -> Bool { delay == nil && files[number]?.entries == nil }

    func body(_ number: Int) -> Watcher.Body? { files[number]?.body }
}

/// The time at which a file that had events counts as idle, so that it isn't compared while it is half written.
struct QuietTimer: Sendable {
    private(set) var due = Duration.zero
    private var isWhole = false
    private var first: Duration?

    /// The time without events after which a file counts as idle; longer for one that is missing or empty, as in the
    /// middle of a save in place.
    static let quiet = Duration.milliseconds(10)
    static let blankQuiet = Duration.milliseconds(100)
    /// The longest time for which a file that is never idle can delay the report of its changes.
    static let longest = Duration.milliseconds(100)
    /// The longest time that a program can take to save a file in place, before it closes the file.
    static let longestSave = Duration.seconds(1)

    /// Notes an event; `isWhole` if all of a large file has to be compared.
    mutating func note(at now: Duration, isBlank: Bool, isBeingSaved: Bool = false, isWhole: Bool) {
        let first = self.first ?? now
        self.first = first
        due = isBlank ? now + Self.blankQuiet : min(now + Self.quiet, max(now, first + Self.longest))
        if isBeingSaved { due = max(now, first + Self.longestSave) }
        self.isWhole = self.isWhole || isWhole
    }

    /// Returns whether all of the file has to be compared; nil if the file isn't idle yet.
    func isWhole(at now: Duration) -> Bool? { due <= now ? isWhole : nil }
}

/// The pause of a watcher after it was woken without finding changes, so that a file that is written all the time, in a
/// watched folder or by this process, wakes it less than a hundred times a second.
struct WakeLimit: Sendable {
    static let longest = Duration.milliseconds(12)
    private var pause = Duration.zero
    private var last: Duration?

    /// Returns how long to sleep before the next events are waited for.
    mutating func pause(hasChanges: Bool, at now: Duration) -> Duration {
        // After changes the next ones might follow at once: two processes might be answering each other.
        if hasChanges {
            pause = pause < .milliseconds(4) ? .zero : pause / 4
            return .zero
        }
        // The first wake-up in a while might remain the only one.
        let isRare = last.map { now - $0 > Self.longest * 2 } ?? true
        pause = isRare ? .zero : min(max(.milliseconds(1), pause * 2), Self.longest)
        last = now
        return pause
    }
}
