import NIOHTTP1
import SyncConfiguration
import TestTraits
import Testing

@testable import SyncPipeline

// N3
@Suite struct BodyCollectorTests {
    /// Feeds `bytes` in pieces and returns the body and how many bytes it took to know.
    private func collect(
        _ bytes: [UInt8], headers: HTTPHeaders = [:], piece: Int = 1000, limits: HTTPConfiguration = HTTPConfiguration()
    ) throws -> [UInt8] {
        var collector = try BodyCollector(headers: headers, limits: limits)
        var rest = bytes[...]
        while !rest.isEmpty {
            try Array(rest.prefix(piece)).withUnsafeBytes { try collector.append($0) }
            rest = rest.dropFirst(piece)
        }
        return try collector.finish()
    }

    private func kind(_ body: () throws -> [UInt8]) -> FetchError.Kind? {
        do { _ = try body() } catch { return (error as? FetchError)?.kind }
        return nil
    }

    private let text = Array("[\(String(repeating: "{\"id\": 1, \"name\": \"something\"},", count: 300)) null]".utf8)

    @Test(arguments: [1, 2, 3, 7, 64, 4096, 100_000])
    func piecesOfAnySizeMakeTheSameBody(piece: Int) throws {
        #expect(try collect(text, piece: piece) == text)
        #expect(try collect(Fixture.gzip(text), headers: ["Content-Encoding": "gzip"], piece: piece) == text)
    }

    @Test func thereIsRoomBehindTheBody() throws {
        for size in [0, 1, 63, 64, 65, 1000, 16_383, 16_384, 16_385, 100_000] {
            let bytes = [UInt8](repeating: 32, count: size)
            for headers: HTTPHeaders in [[:], ["Content-Length": "\(size)"]] {
                let body = try collect(bytes, headers: headers)
                #expect(body.count == size)
                #expect(body.capacity >= size + 64)
            }
            let body = try collect(Fixture.gzip(bytes), headers: ["Content-Encoding": "gzip"])
            #expect(body.count == size)
            #expect(body.capacity >= size + 64)
        }
    }

    @Test func aBodyGrowsWithoutDoublingBeyondItsCap() throws {
        var limits = HTTPConfiguration()
        limits.maxBody = .bytes(1_000_000)
        let body = try collect([UInt8](repeating: 32, count: 1_000_000), piece: 5000, limits: limits)
        #expect(body.capacity < 1_100_000)
    }

    @Test func everyCutOfGzipIsShort() throws {
        let whole = Fixture.gzip(text)
        for length in 0..<whole.count {
            #expect(kind { try collect(Array(whole.prefix(length)), headers: ["Content-Encoding": "gzip"]) } == .shortBody)
        }
    }

    @Test func fewerBytesThanAnnouncedAreShortAndMoreAreMalformed() {
        #expect(kind { try collect([1, 2, 3], headers: ["Content-Length": "4"]) } == .shortBody)
        #expect(kind { try collect([1, 2, 3], headers: ["Content-Length": "2"]) } == .malformed)
        for length in ["-1", "x", "+3", "99999999999999999999", "3, 4"] {
            #expect(kind { try collect([1, 2, 3], headers: ["Content-Length": length]) } == .malformed, "\(length)")
        }
    }

    @Test func damagedGzipIsNotAccepted() {
        var damaged = Fixture.gzip(text)
        damaged[damaged.count / 2] ^= 0xFF
        #expect(kind { try collect(damaged, headers: ["Content-Encoding": "gzip"]) } == .corruptBody)
        var wrongSum = Fixture.gzip(text)
        wrongSum[wrongSum.count - 8] ^= 1
        #expect(kind { try collect(wrongSum, headers: ["Content-Encoding": "gzip"]) } == .corruptBody)
        #expect(kind { try collect(text, headers: ["Content-Encoding": "gzip"]) } == .corruptBody)
        #expect(kind { try collect(Fixture.gzip(text) + Array("junk".utf8), headers: ["Content-Encoding": "gzip"]) } == .corruptBody)
    }

    @Test func membersAreJoinedUpToACap() throws {
        let two = Fixture.gzip(Array("[1,".utf8)) + Fixture.gzip(Array("2]".utf8))
        #expect(try collect(two, headers: ["Content-Encoding": "x-gzip"], piece: 3) == Array("[1,2]".utf8))
        let empty = Fixture.gzip([])
        let many = Array(repeatElement(empty, count: 100_000).joined())
        #expect(kind { try collect(many, headers: ["Content-Encoding": "gzip"]) } == .tooLarge(.gzipMembers))
    }

    @Test(arguments: ["gzip, gzip", "br", "deflate", "gzip, br", "zstd"])
    func otherEncodingsAreRefused(encoding: String) {
        #expect(kind { try collect([], headers: ["Content-Encoding": encoding]) } == .refused(.contentEncoding(encoding)))
    }

    @Test func identityIsNoEncoding() throws {
        #expect(try collect([1], headers: ["Content-Encoding": "identity"]) == [1])
        #expect(kind { try collect([], headers: HTTPHeaders([("Content-Encoding", "gzip"), ("Content-Encoding", "gzip")])) } != nil)
    }

    @Test func capsAreEnforcedBeforeTheMemoryIsTaken() throws {
        var limits = HTTPConfiguration()
        limits.maxBodyCompressed = .kibibytes(10)
        limits.maxBody = .kibibytes(40)
        #expect(kind { try collect(.init(repeating: 1, count: 10_241), limits: limits) } == .tooLarge(.compressedBody))
        #expect(try collect(.init(repeating: 1, count: 10_240), limits: limits).count == 10_240)
        #expect(kind { try collect([], headers: ["Content-Length": "10241"], limits: limits) } == .tooLarge(.compressedBody))
        let packed = Fixture.gzip(.init(repeating: 1, count: 40_961))
        #expect(kind { try collect(packed, headers: ["Content-Encoding": "gzip"], limits: limits) } == .tooLarge(.body))
        let exact = Fixture.gzip(.init(repeating: 1, count: 40_960))
        #expect(try collect(exact, headers: ["Content-Encoding": "gzip"], limits: limits).count == 40_960)
    }

    @Test(.longProcess) func aBombIsStoppedByItsRatio() async {
        await #expect(processExitsWith: .success) {
            let tests = BodyCollectorTests(), bomb = Fixture.bomb(of: 256 << 20), before = Fixture.peakMemory()
            #expect(bomb.count < 400_000)
            #expect(tests.kind { try tests.collect(bomb, headers: ["Content-Encoding": "gzip"], piece: 65_536) } == .tooLarge(.ratio))
            #expect(Fixture.peakMemory() - before < Fixture.memoryOfABomb)
        }
    }

    @Test func aHighRatioOfALittleIsFine() throws {
        let small = Fixture.bomb(of: 1 << 20)
        #expect(try collect(small, headers: ["Content-Encoding": "gzip"]).count == 1 << 20)
    }
}
