import Foundation

/// One of the servers under `Fixtures`. It ends when its standard input does.
struct FixtureServer: Sendable {
    /// One line of what it tells.
    struct Event: Decodable, Sendable {
        let event: String
        var port: Int?
        var path: String?
        var status: Int?
        var bytes: Int?
        var page: Int?
        var what: String?
    }

    let child: Child
    let port: Int

    init(_ child: Child) async throws {
        self.child = child
        let line = try await child.line { Self.event($0)?.event == "listening" }
        port = Self.event(line)?.port ?? 0
    }

    var address: String { "http://127.0.0.1:\(port)" }

    /// Everything it has told so far.
    var events: [Event] { child.output.compactMap(Self.event) }

    /// The requests so far.
    var requests: [Event] { events.filter { $0.event == "request" } }

    /// The next event that passes the test.
    @discardableResult
    func event(where test: @escaping @Sendable (Event) -> Bool) async throws -> Event {
        let line = try await child.line { Self.event($0).map(test) ?? false }
        guard let event = Self.event(line) else { throw Child.Failure(description: line) }
        return event
    }

    /// Sends a command and waits until it is done.
    func tell(_ command: String, _ arguments: [String: Int] = [:]) async throws {
        let values = arguments.sorted { $0.key < $1.key }.map { ", \"\($0.key)\": \($0.value)" }.joined()
        child.send("{\"do\": \"\(command)\"\(values)}")
        try await event { $0.event == "done" && $0.what == command }
    }

    private static func event(_ line: String) -> Event? { try? JSONDecoder().decode(Event.self, from: Data(line.utf8)) }
}
