import Foundation
import Testing

@testable import SyncPipeline

@Suite struct MissingKeysTests {
    private let time = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private var example: MissingKeys {
        var missing = MissingKeys()
        missing.count([1, 2], 1)
        missing.count([7], 3)
        missing.judged = .init(run: 12, time: time)
        missing.tombstones = [800_000_000: [4, 5], -1: [6]]
        return missing
    }

    @Test func missingCountsSurviveTheirCompactForm() throws {
        #expect(MissingKeys().data == nil)
        #expect(MissingKeys(try #require(example.data)) == example)
    }

    @Test func whatWasSaidOfTombstonesSurvivesTheCompactFormAndGoesWithThem() throws {
        var missing = example
        missing.say([4], madeAt: 800_000_000)
        missing.say([9], madeAt: 5)
        #expect(MissingKeys(try #require(missing.data)) == missing)
        #expect(MissingKeys.Stored(try #require(missing.data)).fewest == 1)
        missing.forgetTombstones(madeAt: 800_000_000, besides: [5])
        #expect(missing.tombstones == [800_000_000: [5], -1: [6]] && missing.said == [5: [9]])
        missing.forgetSaid(until: 4)
        #expect(missing.said == [5: [9]])
        missing.forgetSaid(until: 5)
        #expect(missing.said == [:])
    }

    @Test func whatEarlierVersionsWroteOfMissingRowsIsRead() {
        var bytes: [UInt8] = [0xff, 0xff, 0xff, 0xff, 16, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x08, 0xaf, 0x2f, 0, 0, 0, 0]
        bytes += [0, 0, 0, 0, 9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 6]
        bytes += [0, 0, 0, 0, 10, 0, 0, 0, 0x00, 0x08, 0xaf, 0x2f, 0, 0, 0, 0, 4, 1]
        bytes += [1, 0, 0, 0, 2, 0, 0, 0, 1, 1] + [3, 0, 0, 0, 1, 0, 0, 0, 7]
        #expect(MissingKeys(Data(bytes)) == example)
        // Whatever follows damage is not known.
        var known = example
        known.forget([7])
        bytes[bytes.count - 1] = 0x80
        #expect(MissingKeys(Data(bytes)) == known)
    }

    @Test func aRowThatWasCountedTwiceIsCountedAsWasSaidLast() {
        let bytes: [UInt8] = [1, 0, 0, 0, 2, 0, 0, 0, 1, 1] + [3, 0, 0, 0, 1, 0, 0, 0, 2]
        #expect(MissingKeys(Data(bytes)).counts == [1: [1], 3: [2]])
    }

    // Groups in any order, some of them of the same number, and none of them meets another.
    @Test func rowsOfManyGroupsAreAllCounted() {
        func group(_ count: UInt8, _ key: Int64) -> Data {
            let keys = KeyRuns([key]).data
            return Data([count, 0, 0, 0, UInt8(keys.count), 0, 0, 0]) + keys
        }
        let data = group(2, 9) + group(1, 3) + group(2, 5) + group(3, 1)
        #expect(MissingKeys(data).counts == [1: [3], 2: [5, 9], 3: [1]])
        // The last word on one of them changes nothing about the others.
        #expect(MissingKeys(data + group(1, 5)).counts == [1: [3, 5], 2: [9], 3: [1]])
    }

    @Test func noRowIsCountedFurtherThanCanBeStored() throws {
        var missing = MissingKeys()
        missing.count([1], .max)
        let stored = MissingKeys(try #require(missing.data))
        #expect(stored == missing && stored.judged == nil)
    }

    @Test func whatEveryPollAsksIsKnownWithoutReadingAnyKeys() throws {
        let stored = MissingKeys.Stored(try #require(example.data))
        #expect(stored.fewest == 1 && stored.judged == example.judged && stored.whole == example)
        #expect(stored.hasTombstones(until: Date(timeIntervalSinceReferenceDate: -0.5)))
        #expect(!stored.hasTombstones(until: Date(timeIntervalSinceReferenceDate: -1.5)))
        let dayLater = time.addingTimeInterval(86_400)
        #expect(stored.waitsForAnotherListing(confirmRuns: 2, now: dayLater) && !stored.waitsForAnotherListing(confirmRuns: 1, now: dayLater))
        #expect(!stored.waitsForAnotherListing(confirmRuns: 2, now: dayLater.addingTimeInterval(-1)))
        let none = MissingKeys.Stored()
        #expect(none.fewest == nil && !none.hasTombstones(until: .distantFuture) && none.whole == MissingKeys())
        // The keys of a group may be damaged: its head says the same.
        let damaged = MissingKeys.Stored(Data([2, 0, 0, 0, 1, 0, 0, 0, 0x80]))
        #expect(damaged.fewest == 2 && damaged.whole == MissingKeys())
    }
}
