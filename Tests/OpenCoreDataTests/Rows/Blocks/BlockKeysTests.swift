import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// The hashes of unique keys of rows in blocks.
@Suite struct BlockKeysTests {
    /// - Parameter keys: how many are in memory whole.
    private static func spill(keys: Int) -> BlockSpill {
        var limits = BlockSpill.Limits()
        limits.keys = keys
        return BlockSpill(in: nil, limits)
    }

    /// Hashes of which each shares what is kept of it with some others.
    private static func hash(_ number: Int) -> UInt64 { UInt64(1 + number % 40) | UInt64(number) << 32 }

    @Test(arguments: [0, 100, 1 << 14]) func whatIsAnnouncedAddedAndWithdrawnIsWhatAModelSays(inMemory: Int) {
        var random = SeededRandom(seed: 7)
        let keys = BlockKeys(), spill = Self.spill(keys: inMemory)
        var model: [UInt64: Int64] = [:], next: Int64 = 1
        for _ in 0..<3_000 {
            let hashes = (0..<1 + random.next(upTo: 4)).map { _ in Self.hash(1 + random.next(upTo: 600)) }
            let areNew = Set(hashes).count == hashes.count && hashes.allSatisfy { model[$0] == nil }
            #expect(keys.contains(anyOf: hashes) == hashes.contains { model[$0] != nil })
            #expect(keys.announce(hashes) == areNew)
            guard areNew else { continue }
            let isAsked = random.next(upTo: 5) == 0, isWithdrawn = !isAsked && random.next(upTo: 4) == 0
            if isAsked { #expect(keys.ask(for: hashes[0]) == nil) }
            if isWithdrawn {
                keys.withdraw(hashes)
                continue
            }
            #expect(keys.add(hashes, first: next, copy: keys.copy(of: hashes, in: spill)) != isAsked)
            if isAsked {
                keys.withdraw(hashes)
            } else {
                for (place, hash) in hashes.enumerated() { model[hash] = next + Int64(place) }
            }
            next += Int64(hashes.count)
        }
        #expect(model.count > 100)
        for number in 1...600 {
            #expect(keys.primaryKey(of: Self.hash(number)) == model[Self.hash(number)])
            #expect(keys.ask(for: Self.hash(number)) == model[Self.hash(number)])
        }
    }

    @Test func twoMeetWhereAKeyOfOneIsTheOthers() {
        let one = BlockKeys(), other = BlockKeys()
        func areApart() -> Bool { !one.mayShare(with: other) && !other.mayShare(with: one) }
        #expect(areApart())
        #expect(one.announce([1, 2, 3]) && other.announce([4, 5]))
        #expect(areApart())
        #expect(other.announce([3]))
        #expect(one.mayShare(with: other) && other.mayShare(with: one))
        one.withdraw([3])
        #expect(areApart())
        #expect(one.add([1, 2], first: 1, copy: one.copy(of: [1, 2], in: Self.spill(keys: 0))) && areApart())
        #expect(other.announce([2]))
        #expect(one.mayShare(with: other) && other.mayShare(with: one))
    }

    // Whoever looks at the row that is named then hears of the failure.
    @Test func whereHashesCanNotBeReadAKeyMayBeThere() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var limits = BlockSpill.Limits()
        (limits.heap, limits.leavesFree, limits.keys) = (0, 0, 0)
        let keys = BlockKeys(), hashes = (1...100).map(Self.hash)
        #expect(keys.announce(hashes) && keys.add(hashes, first: 5, copy: keys.copy(of: hashes, in: BlockSpill(in: folder, limits))))
        #expect(keys.primaryKey(of: hashes[7]) == 12)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            let path = "/proc/self/fd/\(name)", target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            if target?.hasPrefix(folder.path) == true { try FileHandle(forUpdating: URL(fileURLWithPath: path)).truncate(atOffset: 10) }
        }
        #expect(keys.primaryKey(of: hashes[7]) == 5)
        #expect(keys.contains(anyOf: [hashes[7]]) && keys.primaryKey(of: Self.hash(5) ^ 1 << 60) == nil)
        let other = BlockKeys()
        #expect(keys.mayShare(with: other))
    }

    @Test func theHashOfAKeyIsThatOfItsRow() throws {
        let model = BlockWorld.model()
        model.freeze()
        let layout = try #require(model.entitiesByName["Place"]).layout
        let builder = RowBlockBuilder(layout)
        for code in ["", "a", "é", String(repeating: "long ", count: 100)] {
            for name in layout.names { #expect(builder.put(name == "code" ? .string(code) : .null)) }
            #expect(builder.endRow())
            #expect(RowBlockBuilder.hash(of: .one(.string(code)), layout.constraints[0]) == builder.hashes.last)
        }
        #expect(Set(builder.hashes).count == 4)
        #expect(RowBlockBuilder.hash(of: .one(.double(1)), layout.constraints[0]) == nil)
    }
}
