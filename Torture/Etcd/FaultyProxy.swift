#if Etcd && canImport(Glibc)
import EtcdTestSupport
import NIOCore
import NIOPosix

/// A TCP proxy on loopback in front of one server, which swallows, delays or cuts what goes through it.
///
/// All of it may be used on any thread but the proxies' own.
final class FaultyProxy: Sendable {
    enum Fault: Equatable, Sendable {
        case none
        /// Connections stay open, and nothing arrives in either direction.
        case swallow
        /// Requests arrive, their answers don't.
        case swallowAnswers
        /// Each byte arrives that much later, in either direction.
        case delay(TimeAmount)
        /// Every connection is closed, and each new one as soon as it is made.
        case cut
    }

    /// What belongs to the event loop.
    fileprivate struct State {
        var fault = Fault.none
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// The connections that lost bytes, which can't be used any more.
        var broken: Set<ObjectIdentifier> = []
    }

    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    private let state: NIOLoopBoundBox<State>
    private let server: any Channel
    /// The URL that clients use instead of the server's.
    let endpoint: String

    /// Starts a proxy on a free port.
    ///
    /// - Parameter url: The server's URL, with a numeric port of loopback.
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

    /// Has everything from now on suffer a fault; connections that lost bytes by the one before are closed.
    func suffer(_ fault: Fault) {
        let state = state
        Self.loop.execute {
            state.value.fault = fault
            let connections = state.value.connections
            let closed = fault == .cut ? Set(connections.keys) : state.value.broken
            for (id, channel) in connections where closed.contains(id) { channel.close(promise: nil) }
        }
    }

    /// Connects to the server; the client's channel becomes active when that is done.
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

/// What goes one way on one connection.
private final class Direction: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let state: NIOLoopBoundBox<FaultyProxy.State>
    private let target: any Channel
    private let isAnswer: Bool
    /// When the last bytes are due; none overtakes them.
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
        // What follows lost bytes is lost, too.
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
