import Foundation
import SyncConfiguration
import Testing

@testable import Secrets

@Suite struct SecretTests {
    // In a process of its own: what is locked is counted for all of it.
    @Test func whoLetsGoOfASecretUnlocksNoOther() async {
        await #expect(processExitsWith: .success) {
            var all: [Secret?] = []
            for number in 0..<100 { all.append(Secret(Array("secret \(number)".utf8))) }
            // With as many of them gone the half is locked, at the least.
            let locked = try lockedMemory()
            guard locked > 0 else {
                print("This process may lock no memory; nothing was tried.")
                return
            }
            for index in stride(from: 0, to: all.count, by: 2) { all[index] = nil }
            #expect(try lockedMemory() * 2 >= locked)
            withExtendedLifetime(all) {}
        }
    }

    // In a process of its own: all of its memory is looked through.
    @Test func whoLetsGoOfASecretLeavesNothingOfItInMemory() async {
        await #expect(processExitsWith: .success) {
            let needle = Needle()
            // Many: some of the memory that is given back is written over at once by who asks for it next.
            var secrets = (0..<50).map { _ in Secret(capacity: Needle.length) { needle.write(to: $0) } }
            #expect(secrets.allSatisfy { $0.count == Needle.length })
            try needle.expect(26...50)
            secrets = []
            try needle.expect(0...0)
        }
    }

    @Test func readingASecretLeavesNoCopyOfItInMemory() async {
        await #expect(processExitsWith: .success) {
            let needle = Needle(), path = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)").path
            try needle.write(toFile: path)
            defer { unlink(path) }
            try needle.expect(0...0)
            var secret: Secret? = try SecretReader(environment: [:]).secret(.file(path))
            #expect(secret?.count == Needle.length)
            try needle.expect(1...1)
            secret = nil
            try needle.expect(0...0)
        }
    }
}

/// Random text of which the process has one copy only, here, and how often else a part of it stands in memory.
private struct Needle {
    static let length = 4000
    /// What an allocator writes into memory that was given back stands before it.
    private static let part = 2000..<2064
    private let text = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.length, alignment: 1)

    init() { for index in text.indices { text[index] = UInt8.random(in: 0x61...0x7A) } }

    func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        buffer.copyMemory(from: UnsafeRawBufferPointer(text))
        return text.count
    }

    func write(toFile path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        #expect(Glibc.write(file, text.baseAddress!, text.count) == text.count)
    }

    func expect(_ range: ClosedRange<Int>, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let copies = try copies()
        #expect(range.contains(copies), "\(copies) copies", sourceLocation: sourceLocation)
    }

    /// In everything that the process may write to, but for this one.
    private func copies() throws -> Int {
        typealias Search = @convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeRawPointer?
        let memmem = unsafeBitCast(try #require(dlsym(nil, "memmem")), to: Search.self)
        let part = UnsafeRawPointer(text.baseAddress! + Self.part.lowerBound)
        var count = 0
        for line in try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " "), ends = words[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard words[1].hasPrefix("rw"), ends.count == 2, let end = UnsafeRawPointer(bitPattern: ends[1]) else { continue }
            var place = UnsafeRawPointer(bitPattern: ends[0])
            while let start = place, start < end {
                place = memmem(start, end - start, part, Self.part.count)
                if let found = place {
                    if found != part { count += 1 }
                    place = found + 1
                }
            }
        }
        return count
    }
}

/// In KiB.
private func lockedMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
    return try #require(Int(line.filter(\.isNumber)))
}
