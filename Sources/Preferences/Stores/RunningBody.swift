internal import CDurableFile

/// The body of an update or of a transaction that a call of a store runs on the calling thread.
///
/// An update or a transaction inside it that changes what the call stores or has read would let it run again and again: it throws, and
/// so does the call. A plain set in a body is a change like another thread's; the body then runs again.
final class RunningBody {
    /// The kinds of call that run a body.
    enum Kind {
        case update, transaction
    }

    private let core: StoreCore
    private let kind: Kind
    /// The preference whose value the call stores or reads, if it is of one.
    private let name: String?
    /// The other names that the call stores or has read.
    private var names: Set<String>
    /// Whether the call has read all names.
    private var isComplete = false
    /// The names that the body has set, which a transaction must not read later: it would read older values.
    private var changed: Set<String> = []
    /// Whether it runs with the file's lock, so that no other call may be waited for.
    private let isAlone: Bool
    private let outer: RunningBody?
    private let outerAddress: UnsafeMutableRawPointer?
    private let outerDepth: Int64
    private(set) var misuse: PreferenceError?

    /// Creates the record of a body that begins to run on the calling thread; `leave()` must follow.
    init(
        entering kind: Kind,
        of name: String? = nil,
        and names: [String] = [],
        in core: StoreCore,
        isAlone: Bool = false
    ) {
        (self.kind, self.name, self.core, self.isAlone) = (kind, name, core, isAlone)
        self.names = names.isEmpty ? [] : Set(names)
        outer = Self.current
        (outerAddress, outerDepth) = (c_thread_running_body().pointee, FeedbackDepth.beginBody())
        c_thread_running_body().pointee = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Ends the record.
    func leave() {
        c_thread_running_body().pointee = outerAddress
        FeedbackDepth.endBody(outerDepth)
    }

    /// Runs `body` for a call, and throws if it has set what the call stores or has read.
    static func run<Result>(
        _ kind: Kind,
        of name: String? = nil,
        and names: [String] = [],
        in core: StoreCore,
        isAlone: Bool = false,
        _ body: (RunningBody) throws -> Result
    ) throws -> Result {
        let running = RunningBody(entering: kind, of: name, and: names, in: core, isAlone: isAlone)
        defer { running.leave() }
        let result = try body(running)
        if let misuse = running.misuse { throw misuse }
        return result
    }

    /// The innermost body that runs on the calling thread, unless an observer has been called by it.
    private static var current: RunningBody? {
        guard FeedbackDepth.isRunningBody, let address = c_thread_running_body().pointee else { return nil }
        return Unmanaged<RunningBody>.fromOpaque(address).takeUnretainedValue()
    }

    /// Whether a body that runs on the calling thread runs with the lock of a file.
    static var isAlone: Bool {
        var running = current
        while let body = running {
            if body.isAlone { return true }
            running = body.outer
        }
        return false
    }

    /// Throws if a body that runs on the calling thread must not wait for any store, because it runs with the lock of a file.
    static func checkMayWait() throws(PreferenceError) {
        var running = current
        while let body = running {
            running = body.outer
            guard body.isAlone else { continue }
            let error = PreferenceError(
                .misuse,
                name: body.name,
                "the body of an update or a transaction writes to, flushes or refreshes a store while it holds the file's lock, as it does after "
                    + "16 conflicts; nothing was changed. Change the body's argument, and use the store after the call"
            )
            if body.misuse == nil { body.misuse = error }
            throw error
        }
    }

    /// Throws if a body that runs on the calling thread must not make the changes of an update or a transaction.
    static func check(_ changes: ValueChanges, in core: StoreCore) throws(PreferenceError) {
        var running = current
        while let body = running {
            running = body.outer
            var misused: String?
            changes.forEach { name, _ in
                guard let name = body.name(of: name, in: core) else { return }
                if body.isComplete || body.name == name || body.names.contains(name) { misused = name }
                body.changed.insert(name)
            }
            if let misused { throw body.fail(misused) }
        }
    }

    /// Records that the transaction reads a name; throws if the body has set it.
    func noteRead(_ name: String) throws(PreferenceError) {
        names.insert(name)
        if changed.contains(name) { throw fail(name) }
    }

    /// Records that the transaction reads all names; throws if the body has set one.
    func noteReadOfAll() throws(PreferenceError) {
        isComplete = true
        if let name = changed.min() { throw fail(name) }
    }

    /// Returns the call's name of what another store changes under a name; nil if the call's store doesn't write there.
    private func name(of other: String, in core: StoreCore) -> String? {
        guard core !== self.core else { return other }
        guard let layer = self.core.layers.writableLayer, let otherLayer = core.layers.writableLayer,
            layer.source === otherLayer.source
        else { return nil }
        return layer.preferenceName(of: otherLayer.spelled(other))
    }

    private func fail(_ name: String) -> PreferenceError {
        let error = PreferenceError(misuseOf: kind, name: name)
        if misuse == nil { misuse = error }
        return error
    }
}

extension PreferenceError {
    fileprivate init(misuseOf kind: RunningBody.Kind, name: String) {
        let cure =
            switch kind {
            case .update:
                "the body of an update contains an update or a transaction of the same preference; nothing was changed. Change the "
                    + "body's argument instead"
            case .transaction:
                "the body of a transaction contains an update or a transaction of a preference that it reads; nothing was changed. Use "
                    + "the body's argument, as in t[player.$volume] += 1"
            }
        self.init(.misuse, name: name, cure)
    }
}
