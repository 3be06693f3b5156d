import Glibc
import SyncControl
import Testing

extension Workshop {
    /// Has a daemon of its own bring everything over and then end as it is asked to. The runs it came to, by the name of the resource.
    @discardableResult
    func importEverything(sourceLocation: SourceLocation = #_sourceLocation) async throws -> [String: RunReport] {
        let daemon = try await daemon()
        let runs = try await sync()
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, sourceLocation: sourceLocation)
        return runs
    }

    /// Has the daemon poll everything and end, and compares what is in the store then with one that everything was brought into anew.
    ///
    /// - Parameters:
    ///   - queries: as `differences(_:from:)` takes them.
    ///   - configure: gives another workshop the configuration that this one has.
    func expectAsNew(
        _ daemon: Child, sameAs queries: [String], sourceLocation: SourceLocation = #_sourceLocation, configure: (Workshop) throws -> Void
    ) async throws {
        #expect(try await sync().values.allSatisfy { $0.isComplete }, sourceLocation: sourceLocation)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, sourceLocation: sourceLocation)
        #expect(try await damage() == [], sourceLocation: sourceLocation)
        #expect(try await verify().status == 0, sourceLocation: sourceLocation)
        let fresh = try Workshop()
        defer { fresh.close() }
        try configure(fresh)
        #expect(try await fresh.importEverything().values.allSatisfy { $0.isComplete }, sourceLocation: sourceLocation)
        #expect(try await differences(queries, from: fresh) == [], sourceLocation: sourceLocation)
    }

    /// `cisternctl verify --local`.
    func verify() async throws -> (status: Int32, output: [String], errors: [String]) {
        try await run(Self.binary("cisternctl"), ["verify", "--local", "--config", "\(folder)/cisternd.toml"])
    }

    /// `cisternctl plan --model`.
    func plan() async throws -> (status: Int32, output: [String], errors: [String]) {
        try await run(Self.binary("cisternctl"), ["plan", "--model", "--config", "\(folder)/cisternd.toml"])
    }

    /// `cisternctl check`.
    func check() async throws -> (status: Int32, output: [String], errors: [String]) {
        try await run(Self.binary("cisternctl"), ["check", "--config", "\(folder)/cisternd.toml"])
    }

    /// Rows that only one of two databases has, at most five a query and side: `main.` is this one's, `other.` the other's.
    ///
    /// - Parameter queries: what is compared; `@` stands for the name of the database in them.
    func differences(_ queries: [String], from other: Workshop) async throws -> [String] {
        var differences: [String] = []
        for query in queries {
            for (first, second) in [("main.", "other."), ("other.", "main.")] {
                let (a, b) = (query.replacing("@", with: first), query.replacing("@", with: second))
                differences += try await sql("ATTACH 'file:\(other.store)?mode=ro' AS other; \(a) EXCEPT \(b) LIMIT 5").map {
                    "\(first) only: \($0)"
                }
            }
        }
        return differences
    }
}
