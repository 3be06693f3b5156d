import Foundation
import SyncTestSupport
import Testing

@testable import OpenCoreData
@testable import SyncPipeline

/// Manifests in the store.
@Suite struct StoredManifestTests {
    private static let scope = ResourceScope(source: "api", resource: "people")

    private static func manifest(_ count: Int, seed: Int) -> Manifest {
        var manifest = Manifest(), random = SeededNumbers(seed)
        for place in 0..<count { manifest.append(random.next(), key: Int64(place)) }
        return manifest
    }

    private static func pieces(_ manifest: Manifest?) throws -> [Manifest.Piece]? {
        try manifest.map { manifest in try (0..<manifest.pieceCount).map { try manifest.piece($0) } }
    }

    // More pieces than are looked up at once; then fewer; then more again, of which some are there.
    @Test func aManifestIsReadAsItWasStoredLast() async throws {
        let fixture = try await ScriptedAPI().fixture(ScriptedAPI.people())
        var before = 0
        for (step, count) in [33 * Manifest.pieceSize + 5, 2 * Manifest.pieceSize, 1, 3 * Manifest.pieceSize + 1, 0].enumerated() {
            let manifest = Self.manifest(count, seed: step), known = before
            try await fixture.document.withWorker { worker in
                try StoredManifest.set(manifest, over: known, of: Self.scope, page: "page", isUnstored: false, in: worker)
                try worker.save()
            }
            before = count
            let (read, other, rows) = try await fixture.document.withWorker { worker in
                func load(_ count: Int) throws -> [Manifest.Piece]? {
                    try Self.pieces(StoredManifest.load(count: count, of: Self.scope, page: "page", in: worker))
                }
                return (try load(count), try load(count + 1), try StateRow<ManifestTable>.all(in: worker).map(\.piece).sorted())
            }
            #expect(try read == Self.pieces(manifest), "\(count) records")
            #expect(other == nil && rows == Array(0..<manifest.pieceCount))
        }
        try await fixture.end()
    }

    // A page that is stored again, longer or shorter than it was, looks at none of what waits for the store.
    @Test(arguments: [1, 3 * Manifest.pieceSize, 7 * Manifest.pieceSize]) func whatWaitsInBlocksStaysThereWhileOthersAreStored(count: Int)
        async throws
    {
        let fixture = try await ScriptedAPI().fixture(ScriptedAPI.people()), known = 5 * Manifest.pieceSize
        try await fixture.document.withWorker { worker in
            func set(_ count: Int, over known: Int, page: String) throws {
                try StoredManifest.set(Self.manifest(count, seed: count), over: known, of: Self.scope, page: page, isUnstored: false, in: worker)
            }
            func sealed() -> Int { worker.chain.withLock { worker.level.pending.blocks.count(where: \.isSealed) } }
            try set(known, over: 0, page: "one")
            try worker.save()
            try set(40 * Manifest.pieceSize, over: 0, page: "other")
            let blocks = sealed()
            #expect(blocks > 1)
            try set(count, over: known, page: "one")
            #expect(sealed() == blocks + (count > known ? 1 : 0))
        }
        try await fixture.end()
    }
}
