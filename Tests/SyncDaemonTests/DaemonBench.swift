import Foundation
import Glibc
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization
import Systemd

import enum SyncDaemon.ExitStatus

@testable import SyncDaemon

/// What a daemon under test is put into: files in memory, a manager that records, a journal that records, a socket of its own.
final class DaemonBench: Sendable {
    let path = "/c/cisternd.toml"
    let socket = NSTemporaryDirectory() + "cistern-\(UUID().uuidString.prefix(8)).sock"
    let pipeline = FakePipeline()
    let document = FakeDocument()
    let entries = EntryList()
    let sent = MessageList()
    let messages: AsyncStream<NotifyMessage>
    let dumped: AsyncStream<JournalEntry>
    /// Every entry, as it is written.
    let written: AsyncStream<JournalEntry>
    let clocks = Mutex(MachineClocks())
    let failure = Mutex<StartFailure?>(nil)
    /// Those of the next assemblies.
    let failures = Mutex<ArraySlice<StartFailure>>([])
    /// What an opening tells, and whether it went on to its end.
    let onOpening = Mutex<Opening?>(nil)
    /// How often the manager is asked for time.
    let openingPause = Mutex<Duration?>(nil)
    /// Of each assembly: whether it took the lock over from another document.
    let predecessors = Mutex<[Bool]>([])
    /// What stands against a configuration before anything is exchanged for it.
    let refusal = Mutex<StartFailure?>(nil)
    /// How the store was brought to a changed model.
    let migration = Mutex<String?>(nil)
    /// What the document calls after a save.
    let parts = Mutex<Saved?>(nil)

    struct Opening: Sendable {
        let run: @Sendable (@Sendable (OpeningStep) -> Bool) -> Bool
    }

    struct Saved: Sendable {
        let tell: @Sendable () -> Void
    }

    private let dumpInput: AsyncStream<JournalEntry>.Continuation
    private let writtenInput: AsyncStream<JournalEntry>.Continuation
    private let files = ChangingFiles()

    init() {
        messages = sent.stream
        (dumped, dumpInput) = AsyncStream<JournalEntry>.makeStream()
        (written, writtenInput) = AsyncStream<JournalEntry>.makeStream()
        write(TestConfiguration.text)
    }

    func write(_ text: String) {
        files.texts.withLock { $0[path] = text + "\n[control]\nsocket = \"\(socket)\"\n" }
    }

    func client() -> ControlClient { .patient(socket) }

    /// A client that is shut down whatever happens.
    func withClient<Value>(
        patience: Duration = .seconds(300), pause: Duration = .seconds(1), _ body: (ControlClient) async throws -> Value
    ) async throws -> Value {
        let client = ControlClient(socket: socket, patience: patience, pause: pause)
        do {
            let value = try await body(client)
            await client.shutdown()
            return value
        } catch {
            await client.shutdown()
            throw error
        }
    }

    func daemon(watchdogTimeout: Duration? = nil) -> SyncDaemon {
        let entries = entries, dumpInput = dumpInput, writtenInput = writtenInput
        let sink = ForwardingSink { entry in
            entries.append(entry)
            writtenInput.yield(entry)
            if entry.messageID == .statusDump { dumpInput.yield(entry) }
        }
        var options = SyncDaemon.Options(
            configuration: path, environment: [:], version: "1.2.3", notify: Notify(sender: sent, statusInterval: .zero),
            watchdogTimeout: watchdogTimeout, journal: Journal(sink: sink), files: files)
        options.clocks = clocks.withLock { $0 }
        if let pause = openingPause.withLock({ $0 }) { options.openingPause = pause }
        return SyncDaemon(options: options, parts: Parts(bench: self))
    }

    /// Runs a daemon, does something once it is ready, and stops it.
    func run(_ body: (SyncDaemon) async throws -> Void) async throws -> ExitStatus {
        let daemon = self.daemon()
        async let status = daemon.run()
        var messages = self.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        do {
            try await body(daemon)
        } catch {
            daemon.deliver(.terminate)
            _ = await status
            throw error
        }
        daemon.deliver(.terminate)
        return await status
    }

    private struct Parts: DaemonParts {
        let bench: DaemonBench

        func check(_ configuration: CisternConfiguration) throws {
            if let failure = bench.refusal.withLock({ $0 }) { throw failure }
        }

        func assemble(_ configuration: CisternConfiguration, _ wiring: EngineWiring) throws -> DaemonEngine {
            if let failure = bench.failure.withLock({ $0 }) { throw failure }
            if let failure = bench.failures.withLock({ $0.popFirst() }) { throw failure }
            bench.predecessors.withLock { $0.append(wiring.predecessor != nil) }
            if let opening = bench.onOpening.withLock({ $0 }), !opening.run(wiring.onStep) { throw StopWanted() }
            bench.parts.withLock { $0 = Saved(tell: wiring.onSaved) }
            return DaemonEngine(document: bench.document, pipeline: bench.pipeline, migration: bench.migration.withLock { $0 })
        }
    }
}

extension ControlClient {
    /// Gives up only when something hangs: a busy machine does not decide a test.
    static func patient(_ socket: String) -> ControlClient { ControlClient(socket: socket, patience: .seconds(300)) }
}

struct ForwardingSink: JournalSink {
    let forward: @Sendable (JournalEntry) -> Void

    func write(_ entry: JournalEntry) throws { forward(entry) }
}

/// A service manager that keeps what it is told.
final class MessageList: NotifySender {
    private let list = Mutex<[NotifyMessage]>([])
    let stream: AsyncStream<NotifyMessage>
    private let input: AsyncStream<NotifyMessage>.Continuation

    init() { (stream, input) = AsyncStream<NotifyMessage>.makeStream() }

    var all: [NotifyMessage] { list.withLock { $0 } }

    func send(_ message: NotifyMessage) throws(NotifyError) {
        // Its descriptors are closed by whoever had it sent, as after a send through a socket.
        list.withLock { $0.append(message) }
        input.yield(message)
    }
}

/// Files that can change between two readings.
final class ChangingFiles: ConfigurationFiles {
    struct Missing: Error {}

    let texts = Mutex<[String: String]>([:])

    func contents(of path: String) throws -> [UInt8] {
        guard let text = texts.withLock({ $0[path] }) else { throw Missing() }
        return Array(text.utf8)
    }

    func names(in directory: String) throws -> [String] { [] }
}
