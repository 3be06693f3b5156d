import Foundation
import OpenCoreData
import Testing

@testable import SyncPipeline

/// What is kept of a page's records, and finding them again.
@Suite struct ManifestTests {
    /// Any hashes, keys of any size.
    private static func random(_ count: Int, _ random: inout SeededNumbers) -> Manifest.Piece {
        let keys = (0..<count).map { number in number % 7 == 3 ? Int64(bitPattern: random.next()) : Int64(number) }
        return Manifest.Piece(hashes: keys.map { _ in random.next() }, keys: keys)
    }

    private static func manifest(_ records: Manifest.Piece, in spill: BlockSpill? = nil) -> Manifest {
        var manifest = Manifest(in: spill)
        manifest.append(records)
        return manifest
    }

    private static func ascending(_ count: Int) -> Manifest.Piece {
        Manifest.Piece(hashes: (0..<count).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 }, keys: (0..<count).map { Int64($0) })
    }

    @Test func whatIsStoredIsReadAsItWas() {
        var random = SeededNumbers(1)
        for count in [0, 1, 2, 100, 5000] {
            let piece = Self.random(count, &random)
            #expect(Manifest.Piece(piece.data) == piece)
        }
        let extreme = Manifest.Piece(hashes: [0, .max, 1, 2], keys: [.max, .min, .max, 0])
        #expect(Manifest.Piece(extreme.data) == extreme)
    }

    @Test func neighboursTakeNineBytesARecord() {
        let piece = Manifest.Piece(hashes: (1...1000).map { UInt64($0) }, keys: (1...1000).map { Int64($0) })
        #expect(piece.data.count == 1 + 8 + 9 * 1000 + 8)
    }

    @Test func whatIsDamagedIsNone() {
        var random = SeededNumbers(2)
        let data = Self.random(20, &random).data
        for place in 0..<data.count {
            var damaged = data
            damaged[damaged.startIndex + place] ^= UInt8(1 << (place % 8))
            #expect(Manifest.Piece(damaged) == nil)
        }
        for length in 0..<data.count { #expect(Manifest.Piece(data.prefix(length)) == nil) }
        #expect(Manifest.Piece(Data([2]) + data.dropFirst()) == nil)
    }

    // With what is not in memory, too.
    @Test(arguments: [false, true]) func recordsAreFoundInTheirOrderAndWhateverCameOrWentBetweenThem(isSpilled: Bool) throws {
        try Self.withSpill(isSpilled) { spill throws in
            let known = Self.ascending(2 * Manifest.pieceSize + 100)
            var search = ManifestSearch(Self.manifest(known, in: spill))
            for (place, hash) in known.hashes.enumerated() where place % 5 != 2 {
                if place % 11 == 0 { #expect(try search.key(of: hash ^ 1) == nil) }
                #expect(try search.key(of: hash) == Int64(place))
            }
        }
    }

    @Test(arguments: 1...20) func everyRecordIsFoundInAnyOrderOnceItShowsThatTheOrderIsAnother(seed: Int) throws {
        try Self.withSpill(seed % 2 == 0) { spill throws in
            var random = SeededNumbers(seed)
            let known = Self.random(seed < 15 ? 3000 : 9000, &random), keys = Dictionary(zip(known.hashes, known.keys)) { $1 }
            var search = ManifestSearch(Self.manifest(known, in: spill)), missed = 0
            for hash in known.hashes.shuffled(using: &random) {
                guard let key = try search.key(of: hash) else {
                    missed += 1
                    continue
                }
                #expect(key == keys[hash])
            }
            // Not being found costs a look-up, nothing else.
            #expect(missed < 200)
            for _ in 0..<100 { #expect(try search.key(of: random.next()) == nil) }
        }
    }

    @Test func recordsThatWereTakenFromTheFrontHideNoneOfTheOthers() throws {
        let known = Self.ascending(5000)
        var search = ManifestSearch(Self.manifest(known)), found = 0
        for hash in known.hashes.dropFirst(2000) where try search.key(of: hash) != nil { found += 1 }
        #expect(found > 2900)
    }

    // Keys are said in any order, some of them never, and what a copy says stays as it was.
    @Test(arguments: 1...10) func aManifestSaysWhatAListInMemoryWouldSay(seed: Int) throws {
        try Self.withSpill(seed % 3 != 0) { spill throws in
            var random = SeededNumbers(seed)
            var manifest = Manifest(in: spill), model = Manifest.Piece(), copies: [(Manifest, Manifest.Piece)] = []
            for step in 0..<20_000 {
                switch random.next() % 8 {
                case 0, 1:
                    model.hashes.append(random.next())
                    model.keys.append(Int64(step))
                    manifest.append(model.hashes[model.hashes.count - 1], key: Int64(step))
                case 2, 3, 4:
                    model.hashes.append(random.next())
                    model.keys.append(0)
                    #expect(manifest.append(model.hashes[model.hashes.count - 1]) == model.hashes.count - 1)
                case 5, 6:
                    if model.hashes.isEmpty { break }
                    let place = Int(random.next() % UInt64(model.hashes.count))
                    model.keys[place] = Int64(bitPattern: random.next())
                    try manifest.set(model.keys[place], at: place)
                default:
                    if model.hashes.isEmpty { break }
                    let place = Int(random.next() % UInt64(model.hashes.count))
                    #expect(try manifest.hash(at: place) == model.hashes[place])
                    #expect(try manifest.key(at: place) == model.keys[place])
                    if step % 2000 == 7 { copies.append((manifest, model)) }
                }
            }
            for (manifest, model) in copies + [(manifest, model)] {
                #expect(try Self.all(manifest) == model)
                let places = (0..<manifest.count).filter { $0 % 3 == 1 }, rest = (0..<manifest.count).filter { $0 % 3 != 1 }
                let left = try manifest.leavingOut(places)
                #expect(try Self.all(left) == Manifest.Piece(hashes: rest.map { model.hashes[$0] }, keys: rest.map { model.keys[$0] }))
            }
        }
    }

    @Test func whatCanNotBeReadIsNotKnown() throws {
        let name = "unreadable-\(UUID().uuidString)"
        try Self.withSpill(true, name: name) { spill throws in
            let known = Self.ascending(3 * Manifest.pieceSize)
            var whole = PageRecords(Self.manifest(known, in: spill)), cut = whole
            #expect(known.hashes.allSatisfy { whole.take($0) == nil } && whole.unreadCount == known.hashes.count)
            #expect(cut.take(known.hashes[0]) == nil)
            for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                let path = "/proc/self/fd/\(number)", target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
                if target?.contains(name) == true { try FileHandle(forUpdating: URL(fileURLWithPath: path)).truncate(atOffset: 40_000) }
            }
            let places = known.hashes.dropFirst().map { cut.take($0) }
            // The rest of the piece that was in memory is known still, until the search looks into the next one.
            let first = Manifest.pieceSize - 15
            #expect(places.prefix(first - 1).allSatisfy { $0 == nil })
            #expect(Array(places.dropFirst(first - 1)) == Array(first..<known.hashes.count))
        }
    }

    private static func all(_ manifest: Manifest) throws -> Manifest.Piece {
        try (0..<manifest.pieceCount).reduce(into: Manifest.Piece()) { all, number in
            let piece = try manifest.piece(number)
            #expect(piece.hashes.count == piece.keys.count && (piece.hashes.count == Manifest.pieceSize || number == manifest.pieceCount - 1))
            all.hashes += piece.hashes
            all.keys += piece.keys
        }
    }

    private static func withSpill(_ isFile: Bool, name: String = "manifest-\(UUID().uuidString)", _ body: (BlockSpill?) throws -> Void) throws {
        if !isFile { return try body(nil) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var limits = BlockSpill.Limits()
        (limits.heap, limits.leavesFree) = (0, 0)
        try body(BlockSpill(in: folder, limits))
    }
}
