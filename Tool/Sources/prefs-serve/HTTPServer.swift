import Dispatch
import PrefsCommands
import Synchronization

/// A server of HTTP/1.1 on the loopback address. One thread does all input and output, and waits for no connection.
///
/// Any user of the machine can connect. So a head is limited in length and time, and of the connections whose requests weren't accepted the
/// oldest is closed when there are too many.
final class HTTPServer: Sendable {
    let port: UInt16
    private let listener: Int32
    /// A pipe that wakes the thread when an answer is there.
    private let wakes: (read: Int32, write: Int32)
    private let outputs = Mutex<[Output]>([])
    /// The maximum number of connections whose requests aren't accepted.
    private let maximum: Int

    /// The server's reaction to a head.
    enum Decision: Sendable {
        case answer(Response)
        /// Reads a body of the length, and answers with the result.
        case respond(length: Int, @Sendable (_ body: [UInt8]) async -> Response)
        /// Sends each part when the one before it has been sent.
        case stream(type: String, @Sendable (_ send: @Sendable ([UInt8]) async -> Bool) async -> Void)
    }

    /// The failure of a call of the system.
    struct SystemError: Error {
        let code: Int32
        var message: String { String(cString: strerror(code)) }
    }

    private struct Output {
        let id: Int
        let bytes: [UInt8]
        let isLast: Bool
    }

    /// How long a head and an answer may take.
    private static let limits = (head: Duration.seconds(5), answer: Duration.seconds(60))

    /// Creates a server that listens on a port, or on any free port for 0.
    ///
    /// - Parameter files: The limit of open files, most of which are left to the answers.
    init(port: UInt16, files: Int) throws(SystemError) {
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { throw SystemError(code: errno) }
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status: Int32 = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(descriptor, address, length) == 0, listen(descriptor, SOMAXCONN) == 0 else { return errno }
                return getsockname(descriptor, address, &length) == 0 ? 0 : errno
            }
        }
        var ends: [Int32] = [-1, -1]
        guard status == 0, pipe(&ends) == 0 else {
            let code = status == 0 ? errno : status
            close(descriptor)
            throw SystemError(code: code)
        }
        listener = descriptor
        maximum = max(1, min(64, files / 4))
        wakes = (ends[0], ends[1])
        self.port = UInt16(bigEndian: address.sin_port)
        for descriptor in [listener, wakes.read, wakes.write] { Self.prepare(descriptor) }
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// Answers requests; returns only with an error of the system.
    func run(_ decide: @escaping @Sendable (RequestHead) -> Decision) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "prefs.page").async {
                var connections = Connections(server: self, decide: decide)
                do { try connections.run() } catch { continuation.resume(throwing: error) }
            }
        }
    }

    /// Hands bytes for a connection to the thread.
    fileprivate func send(_ bytes: [UInt8], to id: Int, isLast: Bool) {
        outputs.withLock { $0.append(Output(id: id, bytes: bytes, isLast: isLast)) }
        var byte: UInt8 = 0
        // If the pipe is full, the thread is awake.
        _ = write(wakes.write, &byte, 1)
    }

    // MARK: Connections

    private struct Connection {
        enum State {
            case head
            case body(length: Int, @Sendable ([UInt8]) async -> Response)
            /// Its answer is being made.
            case answering
            case streaming(sent: AsyncStream<Void>.Continuation)
            /// Its answer is sent, and then it is closed.
            case ending
            /// Reads on: closing a connection with unread input discards the answer.
            case lingering
        }

        let descriptor: Int32
        var state = State.head
        var reader = RequestReader()
        var output: [UInt8] = []
        var written = 0
        var deadline: ContinuousClock.Instant?
        var task: Task<Void, Never>?

        var hasOutput: Bool { written < output.count }

        /// Whether its request was accepted, so that its client has the token.
        var isAccepted = false

        var events: Int16 {
            if hasOutput { return Int16(POLLOUT) }
            if case .answering = state { return 0 }
            return Int16(POLLIN)
        }
    }

    /// The connections of a server, by numbers in the order in which they came; used by one thread.
    private struct Connections {
        let server: HTTPServer
        let decide: @Sendable (RequestHead) -> Decision
        var all: [Int: Connection] = [:]
        var next = 0
        /// Until when no connection is accepted, as the system can't open one.
        var pause: ContinuousClock.Instant?
        var piece = [UInt8](repeating: 0, count: 64 << 10)

        init(server: HTTPServer, decide: @escaping @Sendable (RequestHead) -> Decision) {
            (self.server, self.decide) = (server, decide)
        }

        mutating func run() throws {
            while true {
                let ids = all.keys.sorted()
                let canAccept = pause == nil
                var polled = [
                    pollfd(fd: server.wakes.read, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: canAccept ? server.listener : -1, events: Int16(POLLIN), revents: 0),
                ]
                polled += ids.map { id in
                    pollfd(fd: all[id]?.descriptor ?? -1, events: all[id]?.events ?? 0, revents: 0)
                }
                guard poll(&polled, nfds_t(polled.count), timeout()) >= 0 || errno == EINTR else {
                    throw SystemError(code: errno)
                }
                takeOutputs()
                for (id, polled) in zip(ids, polled.dropFirst(2)) where polled.revents != 0 {
                    handle(id, polled.revents)
                }
                endLate()
                if polled[1].revents != 0 { accept() }
            }
        }

        /// Returns the milliseconds until the next deadline.
        private func timeout() -> Int32 {
            let deadlines = all.values.compactMap(\.deadline) + [pause].compactMap(\.self)
            guard let first = deadlines.min() else { return -1 }
            let rest = max(.zero, ContinuousClock.now.duration(to: first))
            return Int32(rest / .milliseconds(1)) + 1
        }

        private mutating func endLate() {
            let now = ContinuousClock.now
            if let pause, pause <= now { self.pause = nil }
            for (id, connection) in all {
                if let deadline = connection.deadline, deadline <= now { close(id) }
            }
        }

        private mutating func takeOutputs() {
            while read(server.wakes.read, &piece, piece.count) > 0 {}
            let outputs = server.outputs.withLock { outputs in
                defer { outputs = [] }
                return outputs
            }
            for output in outputs { send(output.bytes, on: output.id, isLast: output.isLast) }
        }

        // Not more at once, so that each connection is read before newer ones end it.
        private mutating func accept() {
            for _ in 0..<8 {
                let descriptor = acceptConnection(server.listener)
                guard descriptor >= 0 else {
                    switch errno {
                    case EAGAIN, EINTR, ECONNABORTED: return
                    default:
                        if !closeOldest() { pause = ContinuousClock.now + .milliseconds(100) }
                        return
                    }
                }
                HTTPServer.prepare(descriptor)
                if all.values.count(where: { !$0.isAccepted }) >= server.maximum { _ = closeOldest() }
                next += 1
                all[next] = Connection(descriptor: descriptor, deadline: ContinuousClock.now + HTTPServer.limits.head)
            }
        }

        /// Closes the oldest connection whose request isn't accepted; returns whether there was one.
        private mutating func closeOldest() -> Bool {
            guard let id = all.filter({ !$1.isAccepted }).keys.min() else { return false }
            close(id)
            return true
        }

        private mutating func close(_ id: Int) {
            guard let connection = all.removeValue(forKey: id) else { return }
            connection.task?.cancel()
            closeDescriptor(connection.descriptor)
        }

        private mutating func handle(_ id: Int, _ events: Int16) {
            guard let connection = all[id] else { return }
            if connection.hasOutput { return flush(id) }
            guard events & Int16(POLLIN) != 0 else { return close(id) }
            let count = recv(connection.descriptor, &piece, piece.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return close(id) }
            switch connection.state {
            case .head, .body: all[id]?.reader.append(piece[..<count])
            default: return
            }
            receive(id)
        }

        /// Goes on with the received bytes of a request.
        private mutating func receive(_ id: Int) {
            guard let state = all[id]?.state else { return }
            switch state {
            case .head:
                let head: RequestHead
                do throws(RequestHead.Problem) {
                    guard let complete = try all[id]?.reader.head() else { return }
                    head = complete
                } catch {
                    return send(Response.text(error.reason, error.status).bytes, on: id, isLast: true)
                }
                follow(decide(head), id)
            case .body(let length, let respond):
                guard let bytes = all[id]?.reader.bytes, bytes.count >= length else { return }
                all[id]?.state = .answering
                all[id]?.deadline = nil
                let server = server
                all[id]?.task = Task {
                    server.send(await respond(Array(bytes.prefix(length))).bytes, to: id, isLast: true)
                }
            default: return
            }
        }

        private mutating func follow(_ decision: Decision, _ id: Int) {
            switch decision {
            case .answer(let response): send(response.bytes, on: id, isLast: true)
            case .respond(let length, let respond):
                all[id]?.isAccepted = true
                all[id]?.state = .body(length: length, respond)
                all[id]?.deadline = ContinuousClock.now + HTTPServer.limits.answer
                receive(id)
            case .stream(let type, let body):
                let (sent, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
                all[id]?.isAccepted = true
                all[id]?.deadline = nil
                // Before the state, as the first message is the first one whose end is waited for.
                send(Response.head(200, type), on: id, isLast: false)
                all[id]?.state = .streaming(sent: continuation)
                let server = server
                all[id]?.task = Task {
                    await body { bytes in
                        server.send(bytes, to: id, isLast: false)
                        for await _ in sent { return !Task.isCancelled }
                        return false
                    }
                    server.send([], to: id, isLast: true)
                }
            }
        }

        private mutating func send(_ bytes: [UInt8], on id: Int, isLast: Bool) {
            guard let connection = all[id] else { return }
            all[id]?.output = Array(connection.output[connection.written...]) + bytes
            all[id]?.written = 0
            if isLast {
                all[id]?.state = .ending
                all[id]?.deadline =
                    ContinuousClock.now + (connection.isAccepted ? HTTPServer.limits.answer : HTTPServer.limits.head)
            }
            flush(id)
        }

        /// Writes as much as the connection accepts now.
        private mutating func flush(_ id: Int) {
            guard let connection = all[id] else { return }
            var written = connection.written
            while written < connection.output.count {
                let count = connection.output[written...].withUnsafeBytes {
                    sendBytes($0, to: connection.descriptor)
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    all[id]?.written = written
                    return
                }
                guard count > 0 else { return close(id) }
                written += count
            }
            all[id]?.output = []
            all[id]?.written = 0
            switch connection.state {
            case .streaming(let sent): sent.yield()
            case .ending:
                shutdown(connection.descriptor, Int32(SHUT_WR))
                all[id]?.state = .lingering
                all[id]?.deadline = ContinuousClock.now + .seconds(1)
            default: break
            }
        }
    }
}
