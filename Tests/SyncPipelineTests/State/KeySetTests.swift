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

    @Test func missingCountsSurviveTheirCompactForm() {
        var missing = MissingKeys()
        missing.counts = [1: 1, 2: 1, 7: 3]
        #expect(MissingKeys(missing.data) == missing)
    }
}
