import Foundation
import JSONReader
import Testing

@testable import SyncPipeline

@Suite struct KeyRunsTests {
    private static let edges: [[Int64]] = [
        [], [0], [1, 2, 3], [0, 127, 128, 16_384, .max], [.min, -3, 5, 1 << 48], [.min, .max], [.max - 1, .max], [.min, .min + 1],
        [-1, 0, 1], [129], [128, 256],
    ]

    // MARK: The set

    @Test(arguments: 0..<200) func anyScriptOfOperationsGivesWhatASetGives(seed: Int) throws {
        var random = SeededNumbers(seed)
        // Near to each other, so that runs touch; near the ends of what there is; and anywhere.
        let bases: [Int64] = [0, .min, .max - 40, random.next(upTo: 2) == 0 ? -20 : Int64(truncatingIfNeeded: random.next())]
        func key() -> Int64 {
            random.chance(10) ? Int64(truncatingIfNeeded: random.next()) : bases[random.next(upTo: 4)] &+ Int64(random.next(upTo: 40))
        }
        func keys() -> [Int64] {
            let begin = key(), length = Int64(random.next(upTo: 30))
            let run = random.chance(50) && begin <= .max - length ? Array(begin...begin + length) : []
            return run + (0..<random.next(upTo: 12)).map { _ in key() }
        }
        var set: Set<Int64> = [], runs = KeyRuns()
        for _ in 0..<60 {
            let others = keys(), otherSet = Set(others), otherRuns = KeyRuns(others)
            switch random.next(upTo: 5) {
            case 0, 1: (set, runs) = (set.union(otherSet), runs.union(otherRuns))
            case 2: (set, runs) = (set.subtracting(otherSet), runs.subtracting(otherRuns))
            case 3 where random.chance(20): (set, runs) = (otherSet.subtracting(set), otherRuns.subtracting(runs))
            case 3 where random.chance(20): (set, runs) = (set.intersection(otherSet), runs.intersection(otherRuns))
            default:
                #expect(Set(runs.intersection(otherRuns)) == set.intersection(otherSet))
                #expect(otherRuns.intersection(runs) == runs.intersection(otherRuns))
            }
            #expect(Array(runs) == set.sorted())
            #expect(runs == KeyRuns(set) && runs.count == set.count && runs.isEmpty == set.isEmpty)
            #expect(runs.isSubset(of: otherRuns) == set.isSubset(of: otherSet) && runs.isSubset(of: runs.union(otherRuns)))
            #expect(others.allSatisfy { runs.contains($0) == set.contains($0) })
            let some = key()
            #expect(runs.contains(some) == set.contains(some))
            #expect(try #require(KeyRuns(runs.data)) == runs)
            #expect(try #require(KeyRuns(Self.earlierForm(of: set))) == runs)
            var pieces: [Int64] = []
            runs.forEachPiece(of: 7) { piece in
                #expect(piece.count == 7 || pieces.count + piece.count == runs.count)
                pieces += piece
            }
            #expect(pieces == Array(runs))
        }
    }

    @Test func allKeysThereAreAreARun() {
        let all = KeyRuns(ascending: [.min ... .max])
        #expect(all.count == .max && all.contains(.min) && all.contains(.max) && KeyRuns([.min, 0, .max]).isSubset(of: all))
        #expect(all.subtracting([0]) == KeyRuns(ascending: [.min ... -1, 1 ... .max]))
        #expect(all.subtracting([.min, .max]) == KeyRuns(ascending: [.min + 1 ... .max - 1]))
        #expect(all.subtracting([0]).union([0]) == all && all.union(all) == all && all.subtracting(all).isEmpty)
        #expect(all.intersection([5]) == [5] && all.subtracting([0]).count == .max && KeyRuns(all.data) == all)
    }

    @Test func keysThatComeInAnyOrderAreTheSameSet() {
        var random = SeededNumbers(5)
        for keys in [(1...100).reversed(), (1...100).shuffled(using: &random), Array(1...100) + Array(50...70)] as [[Int64]] {
            #expect(KeyRuns(keys).runs == [1...100])
        }
    }

    // MARK: The compact form

    @Test func aSetOfKeysSurvivesItsCompactForm() throws {
        for keys in Self.edges {
            let set = KeyRuns(keys)
            #expect(try #require(KeyRuns(set.data)) == set)
        }
    }

    @Test func neighbouringKeysTakeTheSameBytesHoweverManyTheyAre() {
        #expect(KeyRuns(1...1_000_000).data.count == 11)
        #expect(KeyRuns(1...100_000).data.count == 11)
    }

    @Test func whatEarlierVersionsWroteIsRead() throws {
        let written: [([UInt8], [Int64])] = [
            ([], []),
            ([0x00], [0]),
            ([0x01, 0x01, 0x01], [1, 2, 3]),
            ([0x80, 0x01, 0x80, 0x01], [128, 256]),
            ([0x81, 0x01], [129]),
            ([0x00, 0x7f, 0x01, 0x80, 0x7f, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], [0, 127, 128, 16_384, .max]),
            (
                [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x08]
                    + [0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f], [.min, -3, 5, 1 << 48]
            ),
        ]
        for (bytes, keys) in written {
            #expect(Array(try #require(KeyRuns(Data(bytes)))) == keys)
            #expect(Array(Self.earlierForm(of: Set(keys))) == bytes)
        }
    }

    @Test func earlierVersionsTakeTheCompactFormForDamage() {
        for keys in Self.edges { #expect(Self.earlierReading(of: KeyRuns(keys).data) == nil) }
    }

    @Test func aDamagedSetIsNotRead() {
        #expect(KeyRuns(Data([0x80])) == nil)
        #expect(KeyRuns(Data(repeating: 0xff, count: 11)) == nil)
        let data = KeyRuns([1, 2, 3, 500, 501, 1 << 40]).data
        for length in 1..<data.count { #expect(KeyRuns(data.prefix(length)) == nil) }
        for bit in 0..<data.count * 8 {
            var damaged = data
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(KeyRuns(damaged) == nil)
        }
        #expect(KeyRuns(data + [0]) == nil && KeyRuns(data + [0x80]) == nil)
    }

    @Test func aLaterVersionsFormIsNotRead() { #expect(KeyRuns(Self.summed([0x80, 0x00, 0x02, 0x01, 0x00])) == nil) }

    @Test func runsThatAreNoneAreNotRead() {
        // They touch, they overlap, one ends before it begins, one has no end.
        for numbers in [[0x01, 0x01, 0x01, 0x00], [0x01, 0x01, 0x00, 0x00], [0x05] + Self.minusOne, [0x01]] as [[UInt8]] {
            #expect(KeyRuns(Self.summed([0x80, 0x00, 0x01] + numbers)) == nil)
        }
        #expect(KeyRuns(Self.summed([0x80, 0x00, 0x01, 0x01, 0x01, 0x02, 0x00])) == [1, 2, 4])
    }

    @Test(arguments: 0..<20) func noBytesStopTheProgram(seed: Int) {
        var random = SeededNumbers(seed), known = KeyRuns([1, 2, 9])
        for _ in 0..<500 {
            let bytes = (0..<random.next(upTo: 40)).map { _ in random.chance(30) ? UInt8(random.next(upTo: 4)) : UInt8(random.next(upTo: 256)) }
            // The earlier form, damaged or not, is read as it was.
            if !bytes.starts(with: [0x80, 0x00]) {
                #expect(KeyRuns(Data(bytes)).map { Set($0) } == Self.earlierReading(of: Data(bytes)))
            }
            // With a sum that fits: then it may be any runs.
            if let runs = KeyRuns(Self.summed([0x80, 0x00, 0x01] + bytes)) {
                #expect(KeyRuns(runs.data) == runs && runs.count >= runs.runs.count && runs.isSubset(of: runs.union(known)))
                #expect(runs.subtracting(known).intersection(known).isEmpty && runs.union(known).subtracting(known) == runs.subtracting(known))
                known = runs.runs.count > 3 ? [1, 2, 9] : runs
            }
            _ = MissingKeys(Data(bytes))
            _ = MissingKeys(MissingKeys(Data([UInt8(random.next(upTo: 3)), 0, 0, 0, UInt8(bytes.count), 0, 0, 0] + bytes)).data ?? Data())
            _ = MissingKeys.Stored(Data(bytes))
        }
    }

    private static let minusOne: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]

    /// With a check sum that is right.
    private static func summed(_ bytes: [UInt8]) -> Data {
        let sum = UInt32(truncatingIfNeeded: JSONHash(of: bytes).low) | 0x8000_0000
        return withUnsafeBytes(of: sum.littleEndian) { Data(bytes + $0) }
    }

    /// What earlier versions wrote.
    private static func earlierForm(of keys: Set<Int64>) -> Data {
        var bytes: [UInt8] = [], last: Int64 = 0
        for key in keys.sorted() {
            var difference = UInt64(bitPattern: key &- last)
            last = key
            while difference >= 0x80 {
                bytes.append(UInt8(difference & 0x7f) | 0x80)
                difference >>= 7
            }
            bytes.append(UInt8(difference))
        }
        return Data(bytes)
    }

    /// What earlier versions read.
    private static func earlierReading(of data: Data) -> Set<Int64>? {
        var keys: Set<Int64> = [], last: Int64 = 0, value: UInt64 = 0, shift: UInt64 = 0
        for byte in data {
            guard shift < 64 else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            shift += 7
            if byte & 0x80 != 0 { continue }
            last &+= Int64(bitPattern: value)
            keys.insert(last)
            (value, shift) = (0, 0)
        }
        return shift == 0 ? keys : nil
    }
}
