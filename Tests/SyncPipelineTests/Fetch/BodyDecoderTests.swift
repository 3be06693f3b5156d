import NIOHTTP1
import SyncConfiguration
import TestTraits
import Testing

@testable import SyncPipeline

// N3
@Suite struct BodyDecoderTests {
    /// Feeds `bytes` in pieces and returns the body.
    private func collect(
        _ bytes: [UInt8], headers: HTTPHeaders = [:], piece: Int = 1000, limits: HTTPConfiguration = HTTPConfiguration()
    ) throws -> [UInt8] {
        var decoder = try BodyDecoder(headers: headers, limits: limits, excerpt: 100)
        var rest = bytes[...], body: [UInt8] = []
        while !rest.isEmpty {
            try Array(rest.prefix(piece)).withUnsafeBytes { try decoder.decode($0) { body.append(contentsOf: $0) } }
            rest = rest.dropFirst(piece)
        }
        try decoder.finish()
        #expect(decoder.excerpt == Array(body.prefix(100)))
        return body
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
            let tests = BodyDecoderTests(), bomb = Fixture.bomb(of: 256 << 20), before = Fixture.peakMemory()
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
