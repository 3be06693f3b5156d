import OpenCoreData

/// New rows of a table on their way into a context, in blocks, where they are too many for the memory. Used on the context's queue.
struct StateRows<Table: StateTable> {
    private let context: NSManagedObjectContext
    private let rows: RowImport
    /// Those that the next block is made of.
    private var waiting: [StateRow<Table>] = []

    init(into context: NSManagedObjectContext) throws {
        let layout = try StateRow<Table>.entity(in: context).layout
        self.context = context
        rows = RowImport(RowBlockBuilder(layout), into: context, set: SlotSet(0..<layout.count))
    }

    /// Adds a new row.
    mutating func add(_ row: StateRow<Table>) throws {
        guard row.put(into: rows.builder) else { return try row.writeOver(in: context) }
        waiting.append(row)
        if rows.builder.isFull { try finish() }
    }

    /// Inserts the rows that wait.
    mutating func finish() throws {
        defer { waiting = [] }
        if try waiting.isEmpty || rows.insert() != nil { return }
        // One of them may be there already.
        rows.builder.removeAll()
        for row in waiting { try row.writeOver(in: context) }
    }
}
