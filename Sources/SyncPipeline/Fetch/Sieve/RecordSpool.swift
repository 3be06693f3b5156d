import Foundation
import JSONReader
import OpenCoreData

/// Where records wait until their page has arrived.
struct SpoolPlace: Sendable {
    /// The folder of the file that takes what is too much for the memory; nil: all stays in memory.
    var folder: URL?
    /// How many bytes of records stay in memory.
    var memory = 4 << 20
    /// How many bytes of the file system stay free.
    var leavesFree = 0
    /// About how many bytes of records are a list.
    var listSize = 1 << 20

    /// Where what is known of a page's records waits: about as much of it stays in memory. What the file does not take stays there, too.
    var recordSpill: BlockSpill {
        var limits = BlockSpill.Limits()
        (limits.heap, limits.leavesFree) = (memory, leavesFree)
        return BlockSpill(in: folder, limits)
    }
}

/// Records that were cut out of a page and have to be read, in lists of about a mebibyte. The first lists stay in memory; the others go to a file that
/// has no name, so that nothing of it is left when the process ends.
struct RecordSpool {
    /// Records as a JSON list.
    struct List: Sendable {
        fileprivate(set) var bytes: [UInt8] = []
        fileprivate(set) var records: [Record] = []

        fileprivate mutating func append(_ record: RecordCutter.Record, at place: Int) {
            bytes.append(UInt8(ascii: records.isEmpty ? "[" : ","))
            records.append(Record(start: bytes.count, place: place, offset: record.byteOffset, hash: record.hash))
            bytes.append(contentsOf: record.bytes)
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
        /// Of its bytes.
        let hash: UInt64
    }

    /// Where a list is. It can be read any number of times, in any thread.
    enum Place: Sendable {
        case memory(List)
        case file(SpoolFile, offset: Int, bytes: Int, records: Int)

        /// Reads the list. Throws `FetchError` of the class `spool`.
        ///
        /// - Parameter list: another one that nobody needs any more: its memory is used again.
        func read(into list: inout List) throws {
            switch self {
            case .memory(let known): list = known
            case .file(let file, let offset, let bytes, let records):
                try file.read(bytes, at: offset, into: &list.bytes)
                try file.read(records, at: offset + bytes, into: &list.records)
            }
        }
    }

    private let place: SpoolPlace
    private var open = List()
    private var lists: [Place] = []
    private var file: SpoolFile?
    private var inMemory = 0

    init(_ place: SpoolPlace) { self.place = place }

    /// Adds a record. Throws `FetchError` of the class `spool`.
    ///
    /// - Returns: the list that it has completed.
    mutating func append(_ record: RecordCutter.Record, at place: Int) throws -> Place? {
        open.append(record, at: place)
        return open.bytes.count >= self.place.listSize ? try close() : nil
    }

    /// The lists of what was added, in order. Throws `FetchError` of the class `spool`.
    mutating func finish() throws -> [Place] {
        if !open.records.isEmpty { _ = try close() }
        open = List()
        return lists
    }

    private mutating func close() throws -> Place {
        open.close()
        let list: Place
        if let folder = place.folder, inMemory + open.bytes.count > place.memory {
            let file = try file ?? SpoolFile(in: folder, leavesFree: place.leavesFree)
            self.file = file
            let offset = try file.append(open.bytes)
            _ = try file.append(open.records)
            list = .file(file, offset: offset, bytes: open.bytes.count, records: open.records.count)
        } else {
            inMemory += open.bytes.count
            list = .memory(open)
            open = List()
        }
        open.removeAll()
        lists.append(list)
        return list
    }
}
