#if Etcd && canImport(Glibc)
import EtcdTestSupport
import NIOCore
import NIOPosix

/// A TCP proxy on the loopback address for one server, which can swallow, delay or cut the connections.
///
/// Its members can be used on any thread except for the proxies' event loop.
final class FaultyProxy: Sendable {
    enum Fault: Equatable, Sendable {
        case none
        /// Connections stay open, and no bytes arrive in either direction.
        case swallow
        /// Requests arrive, but their answers don't.
        case swallowAnswers
        /// Bytes arrive later by this amount, in both directions.
        case delay(TimeAmount)
        /// All connections are closed, and each new one when it is opened.
        case cut
    }

    /// The state, which is used on the event loop alone.
    fileprivate struct State {
        var fault = Fault.none
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// The connections that lost bytes, and so can't be used any more.
        var broken: Set<ObjectIdentifier> = []
    }

    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    private let state: NIOLoopBoundBox<State>
    private let server: any Channel
    /// The URL that clients use instead of the server's.
    let endpoint: String

    /// Creates a proxy on a free port.
    ///
    /// - Parameter url: The server's URL, with a numeric port of the loopback address.
    init(to url: String) throws {
        guard let target = url.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw EtcdObstacle("\(url) has no port")
        }
        let state = try Self.loop.submit { NIOLoopBoundBox(State(), eventLoop: Self.loop) }.wait()
        server = try ServerBootstrap(group: Self.loop)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { Self.connect($0, to: target, state) }
            .bind(host: "127.0.0.1", port: 0).wait()
        guard let port = server.localAddress?.port else { throw EtcdObstacle("the proxy has no port") }
        endpoint = "http://127.0.0.1:\(port)"
        self.state = state
    }

    deinit { server.close(promise: nil) }

    /// Applies a fault from now on; closes the connections that lost bytes by the previous one.
    func suffer(_ fault: Fault) {
        let state = state
        Self.loop.execute {
            state.value.fault = fault
            let connections = state.value.connections
            let closed = fault == .cut ? Set(connections.keys) : state.value.broken
            for (id, channel) in connections where closed.contains(id) { channel.close(promise: nil) }
        }
    }

    /// Connects to the server, after which the client's channel becomes active.
    private static func connect(
        _ client: any Channel,
        to port: Int,
        _ state: NIOLoopBoundBox<State>
    ) -> EventLoopFuture<Void> {
        guard state.value.fault != .cut else {
            return client.eventLoop.makeFailedFuture(EtcdObstacle("the connection is cut"))
        }
        return ClientBootstrap(group: client.eventLoop)
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { server in
                let (requests, answers) = (Direction(state, server, false), Direction(state, client, true))
                try client.pipeline.syncOperations.addHandler(requests)
                try server.pipeline.syncOperations.addHandler(answers)
                // Each side ends with the other.
                client.closeFuture.whenComplete { _ in
                    forget([client, server], state)
                    server.close(promise: nil)
                }
                server.closeFuture.whenComplete { _ in client.close(promise: nil) }
                for channel in [client, server] { state.value.connections[ObjectIdentifier(channel)] = channel }
            }
    }

    private static func forget(_ channels: [any Channel], _ state: NIOLoopBoundBox<State>) {
        for channel in channels {
            state.value.connections[ObjectIdentifier(channel)] = nil
            state.value.broken.remove(ObjectIdentifier(channel))
        }
    }
}

/// A handler that forwards one direction of a connection.
private final class Direction: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let state: NIOLoopBoundBox<FaultyProxy.State>
    private let target: any Channel
    private let isAnswer: Bool
    /// The time at which the last bytes are forwarded; later bytes must not overtake them.
    private var due = NIODeadline.uptimeNanoseconds(0)

    init(_ state: NIOLoopBoundBox<FaultyProxy.State>, _ target: any Channel, _ isAnswer: Bool) {
        self.state = state
        self.target = target
        self.isAnswer = isAnswer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        let id = ObjectIdentifier(context.channel)
        var delay = TimeAmount.zero
        switch state.value.fault {
        case .none: break
        case .swallow: state.value.broken.insert(id)
        case .swallowAnswers: if isAnswer { state.value.broken.insert(id) }
        case .delay(let amount): delay = amount
        case .cut: return
        }
        // Bytes after lost ones are lost too.
        guard !state.value.broken.contains(id) else { return }
        let now = NIODeadline.now()
        guard delay > .zero || due > now else { return target.writeAndFlush(buffer, promise: nil) }
        due = max(due + .nanoseconds(1), now + delay)
        let target = target
        context.eventLoop.scheduleTask(deadline: due) { target.writeAndFlush(buffer, promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif
