import CZlib
import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncTestSupport

@testable import SyncPipeline

/// Builds settings, environments and bodies for the tests of this folder.
enum Fixture {
    /// A resource at `url` with limits that tests may change.
    static func resource(_ url: String, _ change: (inout ResourceConfiguration) -> Void = { _ in }) -> ResourceConfiguration {
        var resource = ResourceConfiguration(name: "items", source: "example", url: url, entity: "Item", key: ["id"])
        change(&resource)
        return resource
    }

    static func settings(
        _ url: String, secrets: SecretResolver = .none, _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) throws -> FetchSettings {
        try FetchSettings(
            resource: resource(url, change), daemon: DaemonConfiguration(), version: "1.0", secrets: secrets, tokens: tokens(secrets))
    }

    /// Fetches tokens that are what `secrets` holds: what is true of a secret that was configured is then to be true of a token that was fetched.
    static func tokens(_ secrets: SecretResolver) -> TokenService {
        let transport = StubTransport { _, _ in
            let token = try await secrets.secret(.credential("token")).revealed()
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(#"{"access_token": "\#(token)"}"#.utf8))
        }
        return TokenService(pool: TokenPool(), transports: TransportPool { _ in transport }, clock: ManualClock())
    }

    /// What a page with this body holds.
    static func content(_ body: [UInt8]) throws -> PageContent {
        var sieve = PageSieve(SievePlan(resource("")), known: nil, place: SpoolPlace())
        try body.withUnsafeBytes { try sieve.take($0) }
        return try sieve.finish()
    }

    /// A resolver that knows `secret` under every reference.
    static func secret(_ secret: String) -> SecretResolver { SecretResolver { _, _ in Secret(Array(secret.utf8)) } }

    /// A success with a JSON body and a length.
    static func response(_ body: String, status: Int = 200, headers: [(String, String)] = []) -> [UInt8] {
        var text = "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n" + body).utf8)
    }

    /// `content` as one gzip member.
    static func gzip(_ content: [UInt8], level: Int32 = 9) -> [UInt8] {
        var stream = z_stream()
        precondition(
            deflateInit2_(&stream, level, Z_DEFLATED, 16 + 15, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                == Z_OK)
        defer { deflateEnd(&stream) }
        var input = content
        return input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            return Array(unsafeUninitializedCapacity: Int(deflateBound(&stream, UInt(input.count)))) { output, count in
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                count = Int(stream.total_out)
            }
        }
    }

    /// `count` zeros as one gzip member, made piece by piece.
    static func bomb(of count: Int) -> [UInt8] {
        var stream = z_stream()
        precondition(
            deflateInit2_(&stream, 9, Z_DEFLATED, 16 + 15, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK)
        defer { deflateEnd(&stream) }
        var zeros = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
        var output = [UInt8](repeating: 0, count: 1 << 16)
        var result: [UInt8] = []
        var left = count
        while left > 0 {
            let piece = min(left, zeros.count)
            left -= piece
            zeros.withUnsafeMutableBufferPointer { zeros in
                stream.next_in = zeros.baseAddress
                stream.avail_in = UInt32(piece)
                repeat {
                    let produced = output.withUnsafeMutableBufferPointer { output in
                        stream.next_out = output.baseAddress
                        stream.avail_out = UInt32(output.count)
                        _ = deflate(&stream, left == 0 ? Z_FINISH : Z_NO_FLUSH)
                        return output.count - Int(stream.avail_out)
                    }
                    result += output[..<produced]
                } while stream.avail_out == 0
            }
        }
        return result
    }

    /// Less than an unpacked bomb, in bytes.
    static let memoryOfABomb = 128 << 20

    /// The most memory that this process ever had, in bytes: a test of it is a process of its own, or it would see what other tests take.
    static func peakMemory() -> Int {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return .max }
        return usage.ru_maxrss << 10
    }
}

extension HTTPConfiguration {
    /// Limits of time that only a hang reaches: how busy the machine is decides no test. A test of a limit sets its own.
    mutating func waitLong() {
        connectTimeout = .minutes(5)
        firstByteTimeout = .minutes(5)
        idleTimeout = .minutes(5)
        totalTimeout = .minutes(9)
        minSpeed = nil
    }
}
