/// Tells when others may have changed a file, on one thread for all files of the process.
///
/// The thread runs while a file is watched. Where the kernel tells nothing, because it has no watch left or another machine
/// may write, the file is looked at twice a second.
package final class Watcher: Sendable {
    /// Called on the watcher's thread without a lock; not again once the `Watch` is gone, except one call that had begun.
    ///
    /// It must not wait, as all files share the thread: it returns nil to be called again when the file has come to rest.
    package typealias Body = @Sendable (WatchEvent) -> WatchFinding?

    /// The watcher of all stores.
    ///
    /// Ending a program that has a watch takes Linux some milliseconds, which one that only reads a value need not pay.
    package static let shared = Watcher(startingAfter: .milliseconds(50))

    private let fileSystem: any FileSystem
    private let state: Lock<WatcherState>
    private let pipe: (reading: OpenFile, writing: OpenFile)?

    /// The kernel is asked so long after the first file was given; what has changed by then is told then.
    package init(fileSystem: any FileSystem = SystemFileSystem(), startingAfter delay: Duration = .zero) {
        self.fileSystem = fileSystem
        state = Lock(WatcherState(startingAfter: delay))
        do { pipe = try fileSystem.makePipe() } catch { pipe = nil }
    }

    /// Watches what is or will be at a path; what happens after this returns is told.
    package func watch(_ path: String, _ body: @escaping Body) -> Watch {
        let (number, thread) = state.withLock { $0.add(path, body, fileSystem) }
        if let thread {
            let isStarted = WorkerQueue.start("preferences") { [self] in run(thread) }
            // Without a thread nothing is told; what others changed is still seen by the next write.
            if !isStarted { state.withLock { $0.end() } }
        } else {
            wake()
        }
        return Watch(self, number)
    }

    func cancel(_ number: Int) {
        state.withLock { $0.remove(number, fileSystem) }
        wake()
    }

    /// Whether a thread serves any file.
    var isRunning: Bool { state.withLock { $0.thread != nil || $0.queue != nil } }

    private func wake() {
        if let pipe { fileSystem.wake(pipe.writing) }
    }

    private func run(_ thread: Int) {
        var limit = WakeLimit()
        while true {
            let plan = state.withLock { state -> (queue: OpenFile?, deadline: Duration?)? in
                state.thread == thread ? (state.queue, state.deadline) : nil
            }
            guard let plan else { return }
            let events = waitForEvents(plan.queue, until: plan.deadline) ? events(plan.queue) : []
            let isNews = serve(events, thread) || events.isEmpty
            let pause = limit.pause(isNews: isNews, at: fileSystem.now())
            if pause > .zero { fileSystem.sleep(pause) }
        }
    }

    private func events(_ queue: OpenFile?) -> [FolderEvent] {
        guard let queue else { return [] }
        do {
            return try fileSystem.events(queue)
        } catch {
            state.withLock { $0.loseQueue(at: fileSystem.now()) }
            return []
        }
    }

    /// Returns whether there may be events.
    private func waitForEvents(_ queue: OpenFile?, until deadline: Duration?) -> Bool {
        var timeout = deadline.map { max(.zero, $0 - fileSystem.now()) }
        // Without a pipe nobody can wake the thread to end it.
        if pipe == nil { timeout = min(timeout ?? WatcherState.pollInterval, WatcherState.pollInterval) }
        do {
            let (isReady, isWoken) = try fileSystem.wait(for: queue, or: pipe?.reading, atMost: timeout)
            if isWoken, let pipe { fileSystem.drain(pipe.reading) }
            return isReady
        } catch {
            // Without poll(2) the thread must not spin.
            fileSystem.sleep(WatcherState.pollInterval)
            return true
        }
    }

    /// Has the owners of files look at them; returns whether any found news.
    private func serve(_ events: [FolderEvent], _ thread: Int) -> Bool {
        let now = fileSystem.now()
        let (touched, settled) = state.withLock { state -> (WatcherState.Hits, WatcherState.Hits) in
            guard state.thread == thread else { return ([:], [:]) }
            let touched = state.touched(by: events, at: now, fileSystem)
            return (touched, state.settled(at: now, except: touched))
        }
        var isNews = false
        for (number, hit) in touched {
            guard let body = state.withLock({ $0.body(number) }) else { continue }
            var finding = body(.touched)
            // A file that was renamed to its place is complete, so there is nothing to wait for.
            if hit.isArrival, finding?.isBlank == false { finding = body(.settled(isWhole: true)) }
            isNews = isNews || finding?.isNews == true
            state.withLock { $0.note(number, hit, finding, at: now) }
        }
        for (number, hit) in settled {
            guard let body = state.withLock({ $0.body(number) }), body(.settled(isWhole: hit.isWhole)) == nil else {
                continue
            }
            state.withLock { $0.note(number, hit, nil, at: fileSystem.now()) }
        }
        return isNews
    }
}

/// The watching of one file, which ends with the last reference to it.
package final class Watch: Sendable {
    private let watcher: Watcher
    private let number: Int

    init(_ watcher: Watcher, _ number: Int) {
        self.watcher = watcher
        self.number = number
    }

    deinit { watcher.cancel(number) }
}

/// What a watched file's owner is told.
package enum WatchEvent: Equatable, Sendable {
    /// Something happens to it.
    case touched
    /// Nothing has happened for a moment; `isWhole` where all of a large file has to be compared.
    case settled(isWhole: Bool)
}

/// What a watched file's owner found.
package struct WatchFinding: Sendable {
    /// Whether the file is missing or empty.
    package var isBlank: Bool
    /// Whether there is something to notify of.
    package var isNews: Bool
    /// Whether the file has only grown, by whole lines, so that nothing is left to be compared.
    package var isComplete: Bool

    package init(isBlank: Bool, isNews: Bool, isComplete: Bool = false) {
        self.isBlank = isBlank
        self.isNews = isNews
        self.isComplete = isComplete
    }
}
