import OpenCoreData

/// Records that are likely to be new, on their way into a context: packed, and inserted many at a time. On the context's queue.
final class PackedImport {
    private let packer: RecordPacker
    private let rows: RowImport
    /// The first rows are few: if they are there already, the others are, too.
    private var wanted: Int
    private let largest: Int

    private static let firstRows = 128

    /// - Parameters:
    ///   - said: the slots that a record says something about.
    ///   - batchSize: how many records wait for each other at most.
    init(_ packer: RecordPacker, said: SlotSet, in context: NSManagedObjectContext, batchSize: Int) {
        self.packer = packer
        rows = RowImport(packer.builder, into: context, set: said)
        largest = batchSize
        wanted = min(Self.firstRows, batchSize)
    }

    var isFull: Bool { packer.places.count >= wanted || packer.builder.isFull }

    /// Whether so many more records may wait together with those that do.
    func hasRoom(for count: Int) -> Bool { packer.places.isEmpty || packer.places.count + count <= largest }

    /// Inserts what waits in the packer, where it stays.
    ///
    /// - Parameter targets: the objects that the packer's records name.
    /// - Returns: the primary keys; nil if one of the records may have a row already: then none is inserted.
    func insert(targets: [NSManagedObjectID]) throws -> Range<Int64>? {
        guard let keys = try rows.insert(targets: targets) else { return nil }
        wanted = largest
        return keys
    }
}
