import Foundation

/// Where records wait until their page has arrived.
struct SpoolPlace: Sendable {
    /// The folder of the file that takes what is too much for the memory; nil: all stays in memory.
    var folder: URL?
    /// How many bytes of records stay in memory.
    var memory = 4 << 20
    /// How many bytes of the file system stay free.
    var leavesFree = 0
}

/// Records that were cut out of a page and have to be read, in lists of about a mebibyte. The first lists stay in memory; the others go to a file that
/// has no name, so that nothing of it is left when the process ends.
struct RecordSpool {
    /// Records as a JSON list.
    struct List: Sendable {
        fileprivate(set) var bytes: [UInt8] = []
        fileprivate(set) var records: [Record] = []

        fileprivate mutating func append(_ record: UnsafeRawBufferPointer, at place: Int, offset: Int) {
            bytes.append(UInt8(ascii: records.isEmpty ? "[" : ","))
            records.append(Record(start: bytes.count, place: place, offset: offset))
            bytes.append(contentsOf: record)
        }

        fileprivate mutating func close() { bytes.append(UInt8(ascii: "]")) }

        fileprivate mutating func removeAll() {
            bytes.removeAll(keepingCapacity: true)
            records.removeAll(keepingCapacity: true)
        }
    }

    /// A record in a list.
    struct Record: Sendable {
        /// Where it starts in the list's bytes.
        let start: Int
        /// Which of the page's records it is.
        let place: Int
        /// Where it starts in the page.
        let offset: Int
    }

    /// The lists of a page.
    struct Content: Sendable {
        fileprivate enum Place { case memory(List), file(offset: Int, bytes: Int, records: Int) }

        fileprivate var lists: [Place] = []
        fileprivate var file: NamelessFile?

        /// Calls the closure with each list, in order. Throws `FetchError` of the class `spool`, and what the closure throws.
        func forEach(_ body: (List) throws -> Void) throws {
            for list in lists {
                switch list {
                case .memory(let list): try body(list)
                case .file(let offset, let bytes, let records):
                    guard let file else { continue }
                    try body(List(bytes: file.read(bytes, at: offset), records: file.read(records, at: offset + bytes)))
                }
            }
        }
    }

    private static let listSize = 1 << 20

    private let place: SpoolPlace
    private var open = List()
    private var content = Content()
    private var inMemory = 0

    init(_ place: SpoolPlace) { self.place = place }

    /// Adds a record. Throws `FetchError` of the class `spool`.
    mutating func append(_ record: UnsafeRawBufferPointer, at place: Int, offset: Int) throws {
        open.append(record, at: place, offset: offset)
        if open.bytes.count >= Self.listSize { try close() }
    }

    /// What was added. Throws `FetchError` of the class `spool`.
    mutating func finish() throws -> Content {
        if !open.records.isEmpty { try close() }
        open = List()
        return content
    }

    private mutating func close() throws {
        open.close()
        if let folder = place.folder, inMemory + open.bytes.count > place.memory {
            let file = try content.file ?? NamelessFile(in: folder, leavesFree: place.leavesFree)
            content.file = file
            let offset = try file.append(open.bytes)
            _ = try file.append(open.records)
            content.lists.append(.file(offset: offset, bytes: open.bytes.count, records: open.records.count))
        } else {
            inMemory += open.bytes.count
            content.lists.append(.memory(open))
            open = List()
        }
        open.removeAll()
    }
}
