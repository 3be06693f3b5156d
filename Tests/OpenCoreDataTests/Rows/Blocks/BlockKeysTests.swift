import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// The hashes of unique keys of rows in blocks.
@Suite struct BlockKeysTests {
    @Test func whatIsAnnouncedAddedAndWithdrawnIsWhatAModelSays() {
        var random = SeededRandom(seed: 7)
        let keys = BlockKeys()
        var model: [UInt64: Int64] = [:], next: Int64 = 1
        for _ in 0..<3_000 {
            let hashes = (0..<1 + random.next(upTo: 4)).map { _ in UInt64(1 + random.next(upTo: 600)) &* 0x1_0000_0001 }
            let areNew = Set(hashes).count == hashes.count && hashes.allSatisfy { model[$0] == nil }
            #expect(keys.contains(anyOf: hashes) == hashes.contains { model[$0] != nil })
            #expect(keys.announce(hashes) == areNew)
            guard areNew else { continue }
            let isAsked = random.next(upTo: 5) == 0
            if isAsked { #expect(keys.ask(for: hashes[0]) == nil) }
            #expect(keys.add(hashes, first: next) != isAsked)
            if isAsked || random.next(upTo: 4) == 0 {
                keys.withdraw(hashes)
            } else {
                for (place, hash) in hashes.enumerated() { model[hash] = next + Int64(place) }
            }
            next += Int64(hashes.count)
        }
        #expect(model.count > 100)
        for number in 1...600 {
            let hash = UInt64(number) &* 0x1_0000_0001
            #expect(keys.ask(for: hash) == model[hash])
        }
    }

    @Test func twoMeetWhereAKeyOfOneIsTheOthers() {
        let one = BlockKeys(), other = BlockKeys()
        #expect(!one.contains(anyOf: other.all))
        #expect(one.announce([1, 2, 3]) && other.announce([4, 5]))
        #expect(!one.contains(anyOf: other.all) && !other.contains(anyOf: one.all))
        #expect(other.announce([3]))
        #expect(one.contains(anyOf: other.all) && other.contains(anyOf: one.all))
        one.withdraw([3])
        #expect(!one.contains(anyOf: other.all) && !other.contains(anyOf: one.all))
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
