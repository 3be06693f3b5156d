import Foundation

/// An answer of a server, and what can go wrong with one: in its values, its framing and its bytes.
struct AnswerMutator {
    private static let json: [[UInt8]] =
        [
            "null", "true", "1e999", "-0", "0.1", "123456789012345678901234567890", "-9223372036854775808", "9223372036854775808", "\"\\ud800\"",
            "\"\\u0000\"",
            "[]", "{}", "[null]", "\"\"", "\"2024-13-45T99:99:99Z\"", "\u{FEFF}", "//", "NaN", "'x'", "01", "\"id\": 7,", "\"\\x\"", "\u{0}", "]",
            "}", "[", "{",
            ",", ":", "\"", "\\",
        ].map { Array($0.utf8) } + [
            [0xC3, 0x28], [0xFF, 0xFE], [0xED, 0xA0, 0x80], Array(repeating: 0x5B, count: 5000),
            Array(String(repeating: "{\"a\":", count: 3000).utf8),
            Array(repeating: 0x31, count: 2000), Array("\"\(String(repeating: "x", count: 100_000))\"".utf8),
        ]
    private static let statuses = [
        "200 OK", "200", "200 ", "204 No Content", "206 Partial Content", "100 Continue", "301 Moved", "302 Found", "304 Not Modified", "400 No",
        "401 No",
        "404 No", "410 Gone", "429 Busy", "500 No", "503 Busy", "999 x", "2000 x", "-1 x", "x", "", "200 \u{1B}[2J\r",
    ]
    private static let values: [(String, [String])] = [
        ("Content-Type", ["application/json", "text/html", "application/json; charset=utf-16", "", ";", "application/problem+json", "\u{FF}"]),
        ("Content-Length", ["0", "1", "-1", "+5", "5, 5", "99999999999999999999", "9223372036854775807", "0x10", "", "1000000"]),
        ("Transfer-Encoding", ["chunked", "chunked, chunked", "gzip, chunked", "identity", "xchunked", ""]),
        ("Content-Encoding", ["gzip", "deflate", "br", "identity", "gzip, gzip", "x"]),
        ("ETag", ["\"a\"", "W/\"a\"", "a", "\"", "", "\"\u{FF}\"", String(repeating: "e", count: 20_000)]),
        ("Last-Modified", ["Thu, 01 Jan 1970 00:00:00 GMT", "tomorrow", "Thu, 99 Foo 99999 99:99:99 GMT"]),
        ("Retry-After", ["0", "1", "-1", "1e9", "999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "soon"]),
        (
            "Link",
            [
                "<?page=2>; rel=\"next\"", "<>; rel=next", "<http://[::1>; rel=\"next\"", "</>; rel", "<//>; rel=\"next\"", "<?page=2>; rel=\"next",
                ",,;=<>",
            ]
        ),
        ("Location", ["/", "?x", "http://127.0.0.1:1/", "//", "http://", "file:///etc/passwd", "\u{FF}"]),
        ("Cache-Control", ["max-age=99999999999999999999", "max-age=-1", "no-store", "=,=", "max-age=\"1\""]),
        ("Date", ["Fri, 31 Dec 9999 23:59:59 GMT", "x"]), ("Age", ["-1", "99999999999999999999"]), ("Set-Cookie", ["a=b", "=", "a=\u{0}"]),
        ("Connection", ["close", "upgrade", "keep-alive"]), ("Upgrade", ["h2c"]), ("X", ["", String(repeating: "y", count: 70_000)]), ("B ad", ["x"]),
        ("", ["x"]),
    ]

    var random: SeededRandom

    /// - Parameters:
    ///   - packed: the body as gzip makes it; nil where it is a file in which something is packed, and may be wrong already.
    mutating func answer(_ body: [UInt8], contentType: String, packed: [UInt8]?) -> [UInt8] {
        var bytes = body, headers = [("Content-Type", contentType), ("Connection", "close")], status = Self.statuses[0]
        if packed == nil {
            if random.once(in: 4) { damage(&bytes) }
        } else if let packed, random.once(in: 6) {
            bytes = packed
            headers.append(("Content-Encoding", "gzip"))
            if !random.once(in: 3) { damage(&bytes) }
        } else if !random.once(in: 4) {
            spoil(&bytes)
        }
        if random.once(in: 3) { bytes = chunks(bytes, &headers) } else if !random.once(in: 6) { headers.append(("Content-Length", "\(bytes.count)")) }
        if random.once(in: 4) { status = random.one(of: Self.statuses) }
        // What is read with some statuses only.
        for (codes, name) in [(["429", "503"], "Retry-After"), (["301", "302"], "Location")] where codes.contains(String(status.prefix(3))) {
            headers.append((name, random.one(of: Self.values.first { $0.0 == name }?.1 ?? [])))
        }
        while random.once(in: 2) { change(&headers) }
        let version = random.once(in: 20) ? random.one(of: ["HTTP/1.0", "HTTP/2", "HTTP/9.9", "ICY", "HTTP/1.1\u{0}"]) : "HTTP/1.1"
        let end = random.once(in: 30) ? "\n" : "\r\n"
        var answer = Array((["\(version) \(status)"] + headers.map { "\($0): \($1)" } + ["", ""]).joined(separator: end).utf8) + bytes
        if random.once(in: 5) { damage(&answer) }
        return answer
    }

    /// A text with something wrong in it.
    mutating func spoil(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 1...3, using: &random) { random.once(in: 4) ? repeatOrDrop(&bytes) : splice(&bytes) }
    }

    private mutating func change(_ headers: inout [(String, String)]) {
        let (name, values) = random.one(of: Self.values), at = Int.random(in: 0...headers.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where at < headers.count: headers.remove(at: at)
        case 1: headers.removeAll { $0.0 == name }
        default: break
        }
        headers.insert((random.once(in: 8) ? name.lowercased() : name, random.one(of: values)), at: min(at, headers.count))
    }

    private mutating func chunks(_ bytes: [UInt8], _ headers: inout [(String, String)]) -> [UInt8] {
        headers.append(("Transfer-Encoding", "chunked"))
        var rest = bytes[...], framed: [UInt8] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...max(1, bytes.count / 2), using: &random))
            rest = rest.dropFirst(piece.count)
            var size = String(piece.count, radix: 16)
            if random.once(in: 12) {
                size = random.one(of: ["FFFFFFFFFFFFFFFF", "-1", "0x5", "", "0", " 5", "\(size);a=b", "zz", "7fffffffffffffff"])
            }
            framed += Array("\(size)\r\n".utf8) + piece + Array((random.once(in: 20) ? "" : "\r\n").utf8)
        }
        return random.once(in: 8) ? framed : framed + Array("0\r\n\(random.once(in: 8) ? "ETag: x\r\n" : "")\r\n".utf8)
    }

    /// A member, an element, a cell or a line twice, or missing, with what divides it from the one before.
    private mutating func repeatOrDrop(_ bytes: inout [UInt8]) {
        let stops = Set(",;\n{}[]".utf8), places = bytes.indices.filter { stops.contains(bytes[$0]) }
        guard !places.isEmpty else { return }
        let from = random.one(of: places), to = bytes[(from + 1)...].firstIndex { stops.contains($0) } ?? bytes.endIndex
        if random.once(in: 2) {
            bytes.insert(contentsOf: bytes[from..<to], at: from)
        } else {
            bytes.removeSubrange(from..<to)
        }
    }

    /// Tokens where others stood, twice, or gone.
    private mutating func splice(_ bytes: inout [UInt8]) {
        let stops = Set(",:;\n{}[]".utf8), places = bytes.indices.filter { stops.contains(bytes[$0]) }
        guard !places.isEmpty else { return }
        let from = random.one(of: places) + 1, to = bytes[from...].firstIndex { stops.contains($0) } ?? bytes.endIndex
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: bytes.replaceSubrange(from..<to, with: random.one(of: Self.json))
        case 2: bytes.insert(contentsOf: random.one(of: Self.json), at: from)
        case 3: bytes.insert(contentsOf: bytes[from..<to], at: from)
        case 4: bytes.replaceSubrange(from..<to, with: bytes[from..<to].contains(0x22) ? Array("7".utf8) : [0x22] + bytes[from..<to] + [0x22])
        default: damage(&bytes)
        }
    }

    /// Bits, pieces and the end.
    private mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let at = Int.random(in: 0..<bytes.count, using: &random), end = min(bytes.count, at + Int.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.removeSubrange(at..<end)
        case 2: bytes.insert(contentsOf: bytes[at..<end], at: at)
        default: bytes.removeSubrange(at...)
        }
    }
}
