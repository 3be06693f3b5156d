/// What a zip file says of its entries at its end (APPNOTE 6.3.10, 4.3.12 and 4.3.16).
struct ZipDirectory {
    /// A file in it, or a folder.
    struct Entry {
        enum Method {
            case stored
            case deflated
        }

        let name: String
        let method: Method?
        let methodNumber: Int
        let isEncrypted: Bool
        /// CRC-32 of the content.
        let sum: UInt32
        let compressedSize: Int
        let size: Int
        /// Where its own head is.
        let offset: Int
    }

    let entries: [Entry]

    private static let endSignature: [UInt8] = [0x50, 0x4B, 5, 6]
    private static let entrySignature: [UInt8] = [0x50, 0x4B, 1, 2]
    private static let headSignature: [UInt8] = [0x50, 0x4B, 3, 4]
    private static let endSize = 22
    private static let entrySize = 46
    private static let headSize = 30
    private static let longestComment = 65_535

    /// - Throws: `FetchError`: `shortBody` if the end is missing, `corruptBody` if it is no zip file, or one that is not understood.
    init(of body: CollectedBody) throws {
        let tailStart = max(0, body.count - Self.endSize - Self.longestComment)
        let tail = try body.read(tailStart..<body.count)
        guard let end = Self.end(in: tail) else {
            let beginning = try body.read(0..<min(4, body.count))
            if beginning == Self.headSignature { throw FetchError(.shortBody, detail: "the zip file is cut short: it ends without a directory") }
            throw FetchError(.corruptBody, detail: "it is no zip file; remove unpack if it never is one")
        }
        let record = Bytes(tail[end...])
        let count = record.short(10), size = record.long(12), offset = record.long(16)
        guard record.short(4) == 0, record.short(6) == 0, record.short(8) == count else {
            throw FetchError(.corruptBody, detail: "a part of a zip file that was divided")
        }
        guard count < 0xFFFF, size < 0xFFFF_FFFF, offset < 0xFFFF_FFFF else { throw Self.zip64 }
        guard offset + size <= tailStart + end else { throw Self.broken }
        entries = try Self.entries(try body.read(offset..<offset + size), count)
    }

    /// Where the content of an entry is.
    static func content(of entry: Entry, in body: CollectedBody) throws -> Range<Int> {
        func refuse(_ why: String) -> FetchError { FetchError(.corruptBody, detail: "the entry \(entry.name) of the zip file \(why)") }
        guard !entry.isEncrypted else { throw refuse("is encrypted") }
        guard entry.method != nil else {
            throw refuse("is compressed by method \(entry.methodNumber); only stored (0) and deflated (8) ones are read")
        }
        guard entry.compressedSize < 0xFFFF_FFFF, entry.size < 0xFFFF_FFFF, entry.offset < 0xFFFF_FFFF else { throw zip64 }
        guard entry.offset + headSize <= body.count else { throw broken }
        let own = Bytes(try body.read(entry.offset..<entry.offset + headSize)[...])
        let start = entry.offset + headSize + own.short(26) + own.short(28)
        guard own.starts(with: headSignature), start + entry.compressedSize <= body.count else { throw broken }
        return start..<start + entry.compressedSize
    }

    private static var broken: FetchError { FetchError(.corruptBody, detail: "the directory of the zip file is damaged") }
    private static var zip64: FetchError { FetchError(.corruptBody, detail: "a zip file in the form for more than 4 GiB, which is not read") }

    /// Where the end of the directory is: the last record of that kind whose comment goes to the end of the file.
    private static func end(in tail: [UInt8]) -> Int? {
        guard tail.count >= endSize else { return nil }
        return (0...tail.count - endSize).reversed().first { place in
            let record = Bytes(tail[place...])
            return record.starts(with: endSignature) && place + endSize + record.short(20) == tail.count
        }
    }

    private static func entries(_ directory: [UInt8], _ count: Int) throws -> [Entry] {
        var entries: [Entry] = [], place = 0
        for _ in 0..<count {
            guard place + entrySize <= directory.count else { throw broken }
            let record = Bytes(directory[place...])
            let nameLength = record.short(28), nameStart = place + entrySize
            let next = nameStart + nameLength + record.short(30) + record.short(32)
            guard record.starts(with: entrySignature), next <= directory.count else { throw broken }
            let number = record.short(10)
            entries.append(
                Entry(
                    name: String(decoding: directory[nameStart..<nameStart + nameLength], as: UTF8.self),
                    method: number == 0 ? .stored : number == 8 ? .deflated : nil, methodNumber: number,
                    isEncrypted: record.short(8) & 1 != 0, sum: UInt32(record.long(16)), compressedSize: record.long(20), size: record.long(24),
                    offset: record.long(42)))
            place = next
        }
        return entries
    }

    /// Numbers of two and four bytes, the lowest first.
    private struct Bytes {
        private let bytes: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

        func short(_ offset: Int) -> Int {
            let place = bytes.startIndex + offset
            return Int(bytes[place]) | Int(bytes[place + 1]) << 8
        }

        func long(_ offset: Int) -> Int { short(offset) | short(offset + 2) << 16 }

        func starts(with signature: [UInt8]) -> Bool { bytes.starts(with: signature) }
    }
}
