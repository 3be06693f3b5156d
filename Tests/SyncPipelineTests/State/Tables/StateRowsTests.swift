import Foundation
import SyncTestSupport
import Testing

@testable import OpenCoreData
@testable import SyncPipeline

/// New rows of a table that come in blocks.
@Suite struct StateRowsTests {
    private static let scope = "api/people"

    private static func row(_ piece: Int, bytes: Int = 3, in worker: NSManagedObjectContext) throws -> StateRow<ManifestTable> {
        var row = try StateRow<ManifestTable>(newKey: scope, "page", piece, in: worker)
        row.records = Data(repeating: UInt8(truncatingIfNeeded: piece), count: bytes)
        return row
    }

    private static func blocks(_ context: NSManagedObjectContext) -> Int {
        context.chain.withLock { context.level.pending.blocks.count(where: \.isSealed) }
    }

    private static func stored(_ fixture: PipelineFixture) async throws -> [Int: Data] {
        try await fixture.document.withWorker { worker in
            try StateRow<ManifestTable>.all(in: worker).reduce(into: [:]) { $0[$1.piece] = $1.records }
        }
    }

    private static func expected(_ pieces: Range<Int>, bytes: Int = 3) -> [Int: Data] {
        Dictionary(uniqueKeysWithValues: pieces.map { ($0, Data(repeating: UInt8(truncatingIfNeeded: $0), count: bytes)) })
    }

    // Three of these rows fill a block.
    @Test(arguments: [3, 400_000]) func rowsThatComeInBlocksAreStoredAsOthersAre(bytes: Int) async throws {
        let fixture = try await ScriptedAPI().fixture(ScriptedAPI.people())
        try await fixture.document.withWorker { worker in
            var rows = try StateRows<ManifestTable>(into: worker)
            for piece in 0..<10 { try rows.add(Self.row(piece, bytes: bytes, in: worker)) }
            try rows.finish()
            #expect(Self.blocks(worker) == (bytes == 3 ? 1 : 4))
            try worker.save()
        }
        #expect(try await Self.stored(fixture) == Self.expected(0..<10, bytes: bytes))
        try await fixture.end()
    }

    // The second one is too long for a block; or it is there already; or somebody else has asked for its key.
    @Test(arguments: ["long", "stored", "asked for"]) func aRowThatCanNotComeInABlockIsStoredAllTheSame(why: String) async throws {
        let fixture = try await ScriptedAPI().fixture(ScriptedAPI.people()), long = 1_048_577
        try await fixture.document.withWorker { other in
            if why == "stored" {
                var row = try Self.row(1, bytes: 77, in: other)
                row.write(in: other)
                try other.save()
            } else if why == "asked for" {
                _ = try StateRow<ManifestTable>.find(key: Self.scope, "page", 1, in: other)
            }
            let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
            worker.parent = other.parent
            try worker.performAndWait {
                var rows = try StateRows<ManifestTable>(into: worker)
                for piece in 0..<3 { try rows.add(Self.row(piece, bytes: why == "long" && piece == 1 ? long : 3, in: worker)) }
                try rows.finish()
                #expect(Self.blocks(worker) == (why == "long" ? 1 : 0))
                // What follows comes in a block again.
                try rows.add(Self.row(3, in: worker))
                try rows.finish()
                #expect(Self.blocks(worker) == (why == "long" ? 2 : 1))
                try worker.save()
            }
        }
        var expected = Self.expected(0..<4)
        if why == "long" { expected[1] = Data(repeating: 1, count: long) }
        #expect(try await Self.stored(fixture) == expected)
        try await fixture.end()
    }
}
