import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import SyncControl
import Synchronization

/// Serves the control socket: HTTP/1.1 with JSON.
public final class ControlServer: Sendable {
    private typealias Connection = HTTP1Channel.Value

    private let listener: ControlListener
    private let routes: ControlRoutes
    private let logger: Logger
    private let group: any EventLoopGroup
    private let idleTimeout: TimeAmount
    private let quota: ConnectionQuota
    private struct State {
        var channel: (any Channel)?
        var serving: Task<Void, Never>?
    }
    private let state = Mutex(State())

    /// - Parameters:
    ///   - listener: belongs to the server from now on.
    ///   - logger: gets messages about the connections, at debug.
    ///   - idleTimeout: a connection on which nothing is asked for so long is closed. Waiting for an answer is not idle.
    ///   - quota: how many connections may be open at once; one more is closed unanswered.
    init(
        listener: ControlListener, routes: ControlRoutes, logger: Logger, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        idleTimeout: TimeAmount = .seconds(30), quota: ConnectionQuota = ConnectionQuota()
    ) {
        self.idleTimeout = idleTimeout
        self.quota = quota
        self.listener = listener
        self.routes = routes
        self.logger = logger
        self.group = group
    }

    /// Accepts connections from now on. Returns when it does.
    public func start() async throws {
        let responder = routes.responder(logger: logger)
        let connection = HTTP1Channel(responder: responder, configuration: .init(idleTimeout: idleTimeout))
        let logger = logger, quota = quota
        let server = try await ServerBootstrap(group: group)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .bind(listener.descriptor) { channel in connection.setup(channel: channel, logger: logger) }
        let serving = Task {
            await withDiscardingTaskGroup { tasks in
                do {
                    try await server.executeThenClose { inbound in
                        for try await client in inbound {
                            tasks.addTask {
                                let user = await ControlPeer.of(client.channel)?.user ?? .max
                                guard quota.enter(user) else {
                                    logger.debug("control socket: too many connections")
                                    // It may be gone already; closing it is all there is to do.
                                    try? await client.executeThenClose { _, _ in }
                                    return
                                }
                                defer { quota.leave(user) }
                                await connection.handle(value: client, logger: logger)
                            }
                        }
                    }
                } catch {
                    logger.debug("control socket: \(error)")
                }
            }
        }
        state.withLock { $0 = State(channel: server.channel, serving: serving) }
    }

    /// Stops accepting, removes the socket if it was made here, and ends the connections.
    /// - Parameter grace: how long requests that are being answered may take to finish.
    public func stop(grace: Duration = .seconds(1)) async {
        let (channel, serving) = state.withLock { state in
            defer { state = State() }
            return (state.channel, state.serving)
        }
        listener.remove()
        try? await channel?.close()
        await routes.gauge.waitUntilIdle(atMost: grace)
        serving?.cancel()
        await serving?.value
    }
}

/// What a route gets besides the request: the connection it came on.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// The implementation behind the routes of the control socket. Every failure is a `ControlError`.
public protocol ControlBackend: Sendable {
    /// The answer to `GET /v1/version`.
    func version() -> ControlVersion
    /// The answer to `GET /v1/status`: daemon and resources as they stand now.
    func status() async -> StatusSnapshot
    /// The answer to `GET /v1/config`: what is in force, not what the files say by now.
    func configuration() -> RunningConfiguration
    /// The newest records that were set aside, after `skip` newer ones; with `id`, those whose id begins so.
    func quarantine(id: String?, limit: Int, skip: Int) async throws(ControlError) -> [QuarantineEntry]
    /// With `wait`, returns when the new configuration is in force.
    func reload(wait: Bool) async throws(ControlError) -> ControlResponse
    /// Keeps a source, a resource or, with nil, everything from being polled until `resume`. Throws status 64 for an unknown scope.
    func pause(_ scope: String?) async throws(ControlError) -> ControlResponse
    /// Ends a pause and a wait that a server asked for, and polls; nil means everything. Throws status 64 for an unknown scope.
    func resume(_ scope: String?) async throws(ControlError) -> ControlResponse
    /// Lets the held deletions of a scope through, once, in the next complete run. Throws status 64 for an unknown scope.
    func acceptDeletes(_ scope: String) async throws(ControlError) -> ControlResponse
    /// Forgets parts of what is remembered of a scope, before its next run. Throws status 64 for an unknown scope.
    func reset(_ scope: String, _ parts: Set<ResetPart>) async throws(ControlError) -> ControlResponse
    /// Makes a backup of the document and returns when it is complete.
    func backup() async throws(ControlError) -> BackupReport
    /// Polls now and returns at once.
    func sync(_ scope: String?, full: Bool) async throws(ControlError) -> ControlResponse
    /// Polls now. The sequence ends after the line `finished` or `failed`.
    func syncProgress(_ scope: String?, full: Bool) async throws(ControlError) -> AsyncStream<SyncProgress>
    /// Maps archived bodies again and returns at once. Throws status 64 for an unknown scope, and where no bodies are kept.
    func replay(_ scope: String?) async throws(ControlError) -> ControlResponse
    /// Maps archived bodies again. The sequence ends after the line `finished` or `failed`.
    func replayProgress(_ scope: String?) async throws(ControlError) -> AsyncStream<SyncProgress>
}
