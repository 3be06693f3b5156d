import CZlib

@testable import SyncPipeline

/// Makes zip files.
struct ZipBuilder {
    private var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    /// A file of these entries, compressed.
    static func zip(_ entries: (name: String, content: [UInt8])..., comment: String = "") -> [UInt8] {
        var builder = ZipBuilder()
        for entry in entries { builder.add(entry.name, entry.content) }
        return builder.file(comment: comment)
    }

    /// - Parameters:
    ///   - method: 0: stored; everything else is deflated.
    ///   - isStreamed: whether its own head leaves open how long it is, as that of a writer that does not know it yet.
    ///   - sum: nil: that of the content.
    mutating func add(
        _ name: String, _ content: [UInt8], method: Int = 8, flags: Int = 0, isStreamed: Bool = false, sum: UInt32? = nil, size: Int? = nil
    ) {
        // What stands between the frame of gzip is deflated.
        let packed = method == 0 ? content : Array(Fixture.gzip(content).dropFirst(10).dropLast(8))
        let known = content.withUnsafeBytes { crc32(0, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32($0.count)) }
        let marks = Self.shorts(flags | (isStreamed ? 8 : 0), method, 0, 0)
        let numbers = Self.longs(sum.map { Int($0) } ?? Int(known), packed.count, size ?? content.count)
        let offset = bytes.count
        append([0x50, 0x4B, 3, 4], Self.shorts(20), marks, isStreamed ? Self.longs(0, 0, 0) : numbers, Self.shorts(name.utf8.count, 4))
        append(Array(name.utf8), [1, 2, 3, 4], packed)
        if isStreamed { append([0x50, 0x4B, 7, 8], numbers) }
        let record: [[UInt8]] = [
            [0x50, 0x4B, 1, 2], Self.shorts(20, 20), marks, numbers, Self.shorts(name.utf8.count, 0, 0, 0, 0), Self.longs(0, offset),
        ]
        directory.append(contentsOf: record.joined())
        directory.append(contentsOf: name.utf8)
        count += 1
    }

    func file(comment: String = "") -> [UInt8] {
        let end: [[UInt8]] = [
            [0x50, 0x4B, 5, 6], Self.shorts(0, 0, count, count), Self.longs(directory.count, bytes.count), Self.shorts(comment.utf8.count),
        ]
        return bytes + directory + Array(end.joined()) + Array(comment.utf8)
    }

    private mutating func append(_ parts: [UInt8]...) { bytes.append(contentsOf: parts.joined()) }

    private static func shorts(_ values: Int...) -> [UInt8] { values.flatMap { [UInt8($0 & 255), UInt8($0 >> 8 & 255)] } }

    private static func longs(_ values: Int...) -> [UInt8] { values.flatMap { shorts($0 & 0xFFFF, $0 >> 16 & 0xFFFF) } }
}
