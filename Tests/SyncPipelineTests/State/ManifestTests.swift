import Foundation
import Testing

@testable import SyncPipeline

/// What is kept of a page's records, and finding them again.
@Suite struct ManifestTests {
    private static func manifest(_ records: [(hash: UInt64, key: Int64)]) -> Manifest {
        records.reduce(into: Manifest()) { $0.append($1.hash, key: $1.key) }
    }

    /// Any hashes, keys of any size.
    private static func random(_ count: Int, _ random: inout SeededNumbers) -> Manifest {
        manifest((0..<count).map { number in (random.next(), number % 7 == 3 ? Int64(bitPattern: random.next()) : Int64(number)) })
    }

    @Test func whatIsStoredIsReadAsItWas() {
        var random = SeededNumbers(1)
        for count in [0, 1, 2, 100, 5000] {
            let manifest = Self.random(count, &random)
            #expect(Manifest(manifest.data) == manifest)
        }
        let extreme = Self.manifest([(0, .max), (.max, .min), (1, .max), (2, 0)])
        #expect(Manifest(extreme.data) == extreme)
    }

    @Test func neighboursTakeNineBytesARecord() {
        let manifest = Self.manifest((1...1000).map { (UInt64($0), Int64($0)) })
        #expect(manifest.data.count == 1 + 8 + 9 * 1000 + 8)
    }

    @Test func whatIsDamagedIsNone() {
        var random = SeededNumbers(2)
        let data = Self.random(20, &random).data
        for place in 0..<data.count {
            var damaged = data
            damaged[damaged.startIndex + place] ^= UInt8(1 << (place % 8))
            #expect(Manifest(damaged) == nil)
        }
        for length in 0..<data.count { #expect(Manifest(data.prefix(length)) == nil) }
        #expect(Manifest(Data([2]) + data.dropFirst()) == nil)
    }

    @Test func recordsAreFoundInTheirOrderAndWhateverCameOrWentBetweenThem() {
        let known = Self.manifest((0..<1000).map { (UInt64($0) &* 0x9E37_79B9_7F4A_7C15, Int64($0)) })
        var search = ManifestSearch(known)
        for (place, hash) in known.hashes.enumerated() where place % 5 != 2 {
            if place % 11 == 0 { #expect(search.key(of: hash ^ 1) == nil) }
            #expect(search.key(of: hash) == Int64(place))
        }
    }

    @Test(arguments: 1...20) func everyRecordIsFoundInAnyOrderOnceItShowsThatTheOrderIsAnother(seed: Int) {
        var random = SeededNumbers(seed)
        let known = Self.random(3000, &random), keys = Dictionary(zip(known.hashes, known.keys)) { $1 }
        var search = ManifestSearch(known), missed = 0
        for hash in known.hashes.shuffled(using: &random) {
            guard let key = search.key(of: hash) else {
                missed += 1
                continue
            }
            #expect(key == keys[hash])
        }
        // Not being found costs a look-up, nothing else.
        #expect(missed < 200)
        for _ in 0..<100 { #expect(search.key(of: random.next()) == nil) }
    }

    @Test func recordsThatWereTakenFromTheFrontHideNoneOfTheOthers() {
        let known = Self.manifest((0..<5000).map { (UInt64($0) &* 0x9E37_79B9_7F4A_7C15, Int64($0)) })
        var search = ManifestSearch(known), found = 0
        for hash in known.hashes.dropFirst(2000) where search.key(of: hash) != nil { found += 1 }
        #expect(found > 2900)
    }
}
