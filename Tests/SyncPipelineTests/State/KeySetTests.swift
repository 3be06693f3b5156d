import Foundation
import Testing

@testable import SyncPipeline

@Suite struct KeySetTests {
    @Test func aKeySetSurvivesItsCompactForm() throws {
        for keys in [[], [1], [1, 2, 3], [0, 127, 128, 16_384, Int64.max], [5, -3, Int64.min, 1 << 48]] as [[Int64]] {
            let set = KeySet(keys)
            #expect(try #require(KeySet(set.data)) == set)
        }
    }

    @Test func neighbouringKeysTakeOneByteEach() {
        #expect(KeySet(1...58_220).data.count == 58_220)
    }

    @Test func aDamagedKeySetIsNotRead() {
        #expect(KeySet(Data([0x80])) == nil)
        #expect(KeySet(Data(repeating: 0xff, count: 11)) == nil)
    }

    @Test func missingCountsSurviveTheirCompactForm() throws {
        var missing = MissingKeys()
        #expect(missing.data == nil)
        missing.counts = [1: 1, 2: 1, 7: 3]
        missing.judged = .init(run: 12, time: Date(timeIntervalSinceReferenceDate: 800_000_000))
        missing.tombstones = [800_000_000: KeySet([4, 5]), -1: KeySet([6])]
        #expect(MissingKeys(try #require(missing.data)) == missing)
    }
}
