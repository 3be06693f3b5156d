import Foundation
import NIOHTTP1
import SyncConfiguration
import TestTraits
import Testing

@testable import SyncPipeline

/// Bodies that are files in which something is packed.
@Suite struct UnpackingTests {
    /// What is handed on of a body that arrives in pieces.
    static func unpacked(
        _ bytes: [UInt8], _ unpacking: Unpacking?, piece: Int = 1000, headers: HTTPHeaders = [:], place: SpoolPlace = SpoolPlace(),
        limits: HTTPConfiguration = HTTPConfiguration()
    ) throws -> [UInt8] {
        var decoder = try BodyDecoder(headers: headers, limits: limits, excerpt: 100, unpacking: unpacking, place: place)
        var rest = bytes[...], body: [UInt8] = []
        while !rest.isEmpty {
            try Array(rest.prefix(piece)).withUnsafeBytes { try decoder.decode($0) { body.append(contentsOf: $0) } }
            rest = rest.dropFirst(piece)
        }
        try decoder.finish { body.append(contentsOf: $0) }
        #expect(decoder.excerpt == Array(body.prefix(100)))
        return body
    }

    private func error(_ body: () throws -> [UInt8]) -> FetchError? {
        do { _ = try body() } catch { return error as? FetchError }
        return nil
    }

    private func kind(_ body: () throws -> [UInt8]) -> FetchError.Kind? { error(body)?.kind }

    private static let text = Array((1...400).map { "{\"id\":\($0),\"name\":\"something\"}\n" }.joined().utf8)
    private static let encoded: HTTPHeaders = ["Content-Encoding": "gzip"]

    // MARK: gzip

    @Test(arguments: FormatPage.pieces) func aGzipFileIsUnpackedHoweverItArrives(piece: Int) throws {
        let packed = Fixture.gzip(Self.text)
        #expect(try Self.unpacked(packed, .gzip, piece: piece) == Self.text)
        // Compressed once more for its way, and, by a server that takes the file for its own way of sending it, only so.
        #expect(try Self.unpacked(Fixture.gzip(packed), .gzip, piece: piece, headers: Self.encoded) == Self.text)
        #expect(try Self.unpacked(packed, .gzip, piece: piece, headers: Self.encoded) == Self.text)
    }

    @Test func aGzipFileMayHaveManyMembers() throws {
        let lines = (0..<1000).map { Array("{\"id\":\($0)}\n".utf8) }
        #expect(try Self.unpacked(lines.flatMap { Fixture.gzip($0) }, .gzip) == Array(lines.joined()))
        let many = Array(repeatElement(Fixture.gzip([]), count: 70_000).joined())
        #expect(kind { try Self.unpacked(many, .gzip) } == .tooLarge(.gzipMembers))
    }

    @Test(.longComputation) func everyCutOfAGzipFileIsNoticed() {
        let whole = Fixture.gzip(Self.text)
        for length in 0..<whole.count {
            #expect(kind { try Self.unpacked(Array(whole.prefix(length)), .gzip) } == (length < 2 ? .corruptBody : .shortBody), "\(length)")
        }
    }

    @Test(.longComputation) func aDamagedGzipFileIsRefused() {
        let whole = Fixture.gzip(Self.text)
        var sum = whole
        sum[sum.count - 8] ^= 1
        for damaged in [sum, whole + Array("junk".utf8), whole + [0, 0], Self.text] {
            #expect(kind { try Self.unpacked(damaged, .gzip) } == .corruptBody)
        }
        #expect(error { try Self.unpacked(Self.text, .gzip) }?.detail == "it is no gzip file; remove unpack if it never is one")
        #expect(error { try Self.unpacked([], .gzip) }?.detail.contains("no gzip file") == true)
    }

    @Test func limitsHoldForWhatIsUnpacked() throws {
        let bomb = Fixture.bomb(of: 4 << 20)
        #expect(kind { try Self.unpacked(bomb, .gzip) } == .tooLarge(.ratio))
        #expect(kind { try Self.unpacked(Fixture.gzip(bomb), .gzip, headers: Self.encoded) } == .tooLarge(.ratio))
        // What is in the file is not unpacked once more.
        #expect(try Self.unpacked(Fixture.gzip(Fixture.gzip(bomb)), .gzip, headers: Self.encoded) == bomb)
        var limits = HTTPConfiguration()
        limits.maxBody = .kibibytes(40)
        #expect(kind { try Self.unpacked(Fixture.gzip(.init(repeating: 1, count: 40_961)), .gzip, limits: limits) } == .tooLarge(.body))
        #expect(try Self.unpacked(Fixture.gzip(.init(repeating: 1, count: 40_960)), .gzip, limits: limits).count == 40_960)
        var builder = ZipBuilder()
        builder.add("a", .init(repeating: 1, count: 40_961))
        #expect(kind { try Self.unpacked(builder.file(), .zip(entry: nil), limits: limits) } == .tooLarge(.body))
        let zeros = ZipBuilder.zip(("a", Array(repeating: 0, count: 4 << 20)))
        #expect(kind { try Self.unpacked(zeros, .zip(entry: nil)) } == .tooLarge(.ratio))
        // What is announced is the file, and not what is in it.
        limits.maxBody = .bytes(100)
        let small = Fixture.gzip(Array(repeating: 1, count: 100))
        #expect(try Self.unpacked(small, .gzip, headers: ["Content-Length": "\(small.count)"], limits: limits).count == 100)
        #expect(kind { try Self.unpacked(small, .gzip, headers: ["Content-Length": "\(small.count + 1)"], limits: limits) } == .shortBody)
    }

    // MARK: zip

    @Test(arguments: FormatPage.pieces) func anEntryOfAZipFileIsUnpackedHoweverItArrives(piece: Int) throws {
        let packed = ZipBuilder.zip(("data.ndjson", Self.text), comment: "made by a test")
        #expect(try Self.unpacked(packed, .zip(entry: nil), piece: piece) == Self.text)
        #expect(try Self.unpacked(Fixture.gzip(packed), .zip(entry: nil), piece: piece, headers: Self.encoded) == Self.text)
    }

    @Test func entriesMayBeStoredAndStreamed() throws {
        for method in [0, 8] {
            for isStreamed in [false, true] {
                var builder = ZipBuilder()
                builder.add("a.json", Self.text, method: method, isStreamed: isStreamed)
                #expect(try Self.unpacked(builder.file(), .zip(entry: nil)) == Self.text)
            }
        }
        #expect(try Self.unpacked(ZipBuilder.zip(("empty", [])), .zip(entry: nil)) == [])
    }

    @Test func aZipFileThatIsTooMuchForTheMemoryWaitsInAFileWithoutAName() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("zip-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = SeededNumbers(1)
        let noise = (0..<300_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }, packed = ZipBuilder.zip(("noise", noise), ("other", [1]))
        for memory in [0, 1000, 100_000, 1 << 20] {
            let place = SpoolPlace(folder: folder, memory: memory)
            #expect(try Self.unpacked(packed, .zip(entry: "n*"), piece: 4096, place: place) == noise)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let full = SpoolPlace(folder: folder, memory: 0, leavesFree: .max)
        #expect(kind { try Self.unpacked(packed, .zip(entry: "n*"), place: full) } == .spool)
    }

    @Test func ofSeveralEntriesTheOneThatIsMeantHasToBeClear() throws {
        let packed = ZipBuilder.zip(
            ("folder/", []), ("folder/a.csv", [1]), ("folder/b.csv", [2]), ("readme.txt", [3]), ("__MACOSX/folder/._a.csv", [4]))
        for (entry, content) in [("folder/a.csv", [1]), ("*/b.csv", [2]), ("*.txt", [3]), ("folder/[b]*", [2])] as [(String, [UInt8])] {
            #expect(try Self.unpacked(packed, .zip(entry: entry)) == content)
        }
        let several = error { try Self.unpacked(packed, .zip(entry: nil)) }
        #expect(several?.kind == .corruptBody)
        #expect(
            several?.detail == "several entries of the zip file may be meant: folder/a.csv, folder/b.csv, readme.txt; write zip_entry = \"NAME\"")
        #expect(error { try Self.unpacked(packed, .zip(entry: "*.csv")) }?.detail.contains("folder/a.csv, folder/b.csv; write") == true)
        let none = error { try Self.unpacked(packed, .zip(entry: "*.json")) }
        #expect(none?.detail == "no entry of the zip file is called as zip_entry says; it has folder/a.csv, folder/b.csv, readme.txt")
        #expect(error { try Self.unpacked(ZipBuilder().file(), .zip(entry: nil)) }?.detail == "there is no file in the zip file")
    }

    @Test(.longComputation) func everyCutOfAZipFileIsNoticed() {
        let whole = ZipBuilder.zip(("a", Self.text), ("b", [1]))
        for length in 0..<whole.count {
            let found = kind { try Self.unpacked(Array(whole.prefix(length)), .zip(entry: "a")) }
            #expect(found == (length < 4 ? .corruptBody : .shortBody), "\(length)")
        }
        #expect(error { try Self.unpacked(Self.text, .zip(entry: nil)) }?.detail == "it is no zip file; remove unpack if it never is one")
        #expect(kind { try Self.unpacked(whole + [0], .zip(entry: "a")) } == .shortBody)
    }

    // A file that is read in spite of what was changed says what it said before.
    @Test(.longComputation) func aDamagedZipFileIsRefusedOrSaysTheSame() {
        let content = Array("{\"id\":1}\n{\"id\":2}\n".utf8), whole = ZipBuilder.zip(("a", content), comment: "x")
        for place in whole.indices {
            for mask: UInt8 in [1, 0x80, 0xFF] {
                var damaged = whole
                damaged[place] ^= mask
                do {
                    #expect(try Self.unpacked(damaged, .zip(entry: nil)) == content, "\(place)")
                } catch {
                    #expect(error is FetchError, "\(place): \(error)")
                }
            }
        }
    }

    @Test func whatIsNotUnderstoodIsRefusedWithItsReason() {
        func detail(_ change: (inout ZipBuilder) -> Void) -> String {
            var builder = ZipBuilder()
            change(&builder)
            let found = error { try Self.unpacked(builder.file(), .zip(entry: nil)) }
            return found?.kind == .corruptBody ? found?.detail ?? "" : "\(String(describing: found))"
        }
        #expect(detail { $0.add("a", [1], flags: 1) } == "the entry a of the zip file is encrypted")
        #expect(detail { $0.add("a", [1], method: 12) }.hasPrefix("the entry a of the zip file is compressed by method 12; only stored"))
        #expect(detail { $0.add("a", [1], sum: 7) } == "the entry a of the zip file is damaged: its sum is another")
        #expect(detail { $0.add("a", [1], size: 2) } == "the entry a of the zip file is damaged: its sum is another")
        #expect(detail { $0.add("a", [1], size: 0xFFFF_FFFF) }.contains("in the form for more than 4 GiB, which is not read"))
    }
}
