import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Which block a key is in.
@Suite struct BlockNumbersTests {
    private static func blocks(of hash: UInt64, in numbers: BlockNumbers) -> [UInt16] {
        var found: [UInt16] = []
        #expect(
            !numbers.contains(hash) {
                found.append($0)
                return false
            })
        return found
    }

    @Test func everyHashLeadsToItsBlockAndHardlyAnyOtherToOne() {
        var random = SeededRandom(seed: 3), numbers = BlockNumbers()
        let hashes = (0..<100_000).map { _ in UInt64.random(in: 0 ... .max, using: &random) }
        for (place, hash) in hashes.enumerated() { numbers.insert(hash, block: UInt16(place / 1000)) }
        for (place, hash) in hashes.enumerated() { #expect(Self.blocks(of: hash, in: numbers).contains(UInt16(place / 1000))) }
        let others = (0..<100_000).count { _ in numbers.contains(.random(in: 0 ... .max, using: &random)) { _ in true } }
        #expect(others < 10)
    }

    @Test func hashesThatAreKeptAlikeLeadToAllTheirBlocks() {
        var numbers = BlockNumbers()
        for block in 0..<50 { numbers.insert(7 | UInt64(block) << 32, block: UInt16(block)) }
        #expect(Self.blocks(of: 7, in: numbers).sorted() == Array(0..<50))
        #expect(Self.blocks(of: 8, in: numbers) == [] && Self.blocks(of: 7 | 1 << 60, in: numbers) == [])
        numbers.insert(0, block: 60)
        #expect(Self.blocks(of: 0, in: numbers) == [60])
        #expect(numbers.contains(7) { $0 == 30 } && !numbers.contains(7) { $0 == 50 })
    }
}
