/// Values by object ID, in the order in which they came.
///
/// Primary keys are counted up, so the keys of objects that are made, saved or read one after the other mostly ascend. As long as they do, the
/// entries are their own index: a look-up goes straight to the place that the distance from the first key names, or else halves the range.
/// Nothing is hashed, and going through a table touches memory in the order in which it was filled. The first key out of order builds an
/// index of places by hash.
package struct IDTable<Value>: Sequence, ExpressibleByDictionaryLiteral {
    package typealias Element = (key: NSManagedObjectID, value: Value)

    /// One ID; its value is nil after it was removed.
    fileprivate struct Entry {
        let key: Int64
        let id: NSManagedObjectID
        var value: Value?
    }

    private var entries: ContiguousArray<Entry> = []
    /// Places plus one by hash, 0 where there is none. Empty as long as keys ascend.
    private var buckets: ContiguousArray<Int32> = []
    package private(set) var count = 0

    package init() {}

    package init(dictionaryLiteral elements: (NSManagedObjectID, Value)...) {
        for (id, value) in elements { updateValue(value, forKey: id) }
    }

    package var isEmpty: Bool { count == 0 }

    package subscript(id: NSManagedObjectID) -> Value? {
        get { place(of: id).flatMap { entries[$0].value } }
        set {
            if let newValue { updateValue(newValue, forKey: id) } else { removeValue(forKey: id) }
        }
    }

    /// The entry with a primary key, where all are of one entity and one store.
    func element(withKey key: Int64) -> Element? {
        guard buckets.isEmpty else { return first { $0.key.key == key } }
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key < key { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low].key == key, let value = entries[low].value else { return nil }
        return (entries[low].id, value)
    }

    /// Sets a value and returns the one before.
    @discardableResult
    package mutating func updateValue(_ value: Value, forKey id: NSManagedObjectID) -> Value? {
        if appendAscending(value, forKey: id) { return nil }
        guard let place = place(of: id) else {
            append(value, id)
            return nil
        }
        let old = entries[place].value
        entries[place].value = value
        if old == nil { count += 1 }
        return old
    }

    /// Adds a value if that can be done without a look-up: where its key comes after all others.
    ///
    /// - Returns: whether it was added.
    package mutating func appendAscending(_ value: Value, forKey id: NSManagedObjectID) -> Bool {
        guard buckets.isEmpty, entries.last.map({ $0.key < id.key }) ?? true else { return false }
        entries.append(Entry(key: id.key, id: id, value: value))
        count += 1
        return true
    }

    /// Removes a value and returns it.
    @discardableResult
    package mutating func removeValue(forKey id: NSManagedObjectID) -> Value? { removeValue(forKey: id) { _ in true } }

    /// Removes a value if it is the one that is meant, and returns it.
    @discardableResult
    mutating func removeValue(forKey id: NSManagedObjectID, where isMeant: (Value) -> Bool) -> Value? {
        guard let place = place(of: id), let old = entries[place].value, isMeant(old) else { return nil }
        entries[place].value = nil
        count -= 1
        if count == 0 {
            entries = []
            buckets = []
        } else if entries.count > 64 && count < entries.count / 4 {
            compact()
        }
        return old
    }

    /// Makes room for that many entries in all.
    package mutating func reserveCapacity(_ capacity: Int) {
        if capacity > entries.capacity { entries.reserveCapacity(Swift.max(capacity, entries.capacity * 2)) }
    }

    package var keys: [NSManagedObjectID] { keys { _ in true } }

    /// The IDs whose values are of some kind.
    func keys(where isWanted: (borrowing Value) -> Bool) -> [NSManagedObjectID] {
        keys(in: 0..<placeCount, where: isWanted)
    }

    /// How many places the table has, of which some may be empty.
    var placeCount: Int { entries.count }

    /// The IDs in some of the places, whose values are of some kind.
    func keys(in places: Range<Int>, where isWanted: (borrowing Value) -> Bool) -> [NSManagedObjectID] {
        entries.withUnsafeBufferPointer { entries in
            var result: [NSManagedObjectID] = []
            result.reserveCapacity(places.count)
            for place in places {
                if let value = entries[place].value, isWanted(value) { result.append(entries[place].id) }
            }
            return result
        }
    }

    package var values: [Value] {
        var result: [Value] = []
        result.reserveCapacity(count)
        for entry in entries {
            if let value = entry.value { result.append(value) }
        }
        return result
    }

    package var underestimatedCount: Int { count }

    package struct Iterator: IteratorProtocol {
        fileprivate let table: IDTable
        fileprivate var place = 0

        package mutating func next() -> Element? {
            while place < table.entries.count {
                let at = place
                place += 1
                if let value = table.entries[at].value { return (table.entries[at].id, value) }
            }
            return nil
        }
    }

    package func makeIterator() -> Iterator { Iterator(table: self) }

    // MARK: Places

    /// Where the entry of an ID stands, if it has one.
    private func place(of id: NSManagedObjectID) -> Int? {
        if entries.isEmpty { return nil }
        return entries.withUnsafeBufferPointer { buckets.isEmpty ? Self.ordered(id, $0) : hashed(id, $0) }
    }

    private static func ordered(_ id: NSManagedObjectID, _ entries: UnsafeBufferPointer<Entry>) -> Int? {
        let key = id.key
        guard key >= entries[0].key, key <= entries[entries.count - 1].key else { return nil }
        // The distance between two keys may be more than an `Int64` holds.
        let distance = UInt64(bitPattern: key) &- UInt64(bitPattern: entries[0].key)
        if distance < UInt64(entries.count), entries[Int(distance)].key == key {
            return matches(entries[Int(distance)], id) ? Int(distance) : nil
        }
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return entries[low].key == key && matches(entries[low], id) ? low : nil
    }

    private func hashed(_ id: NSManagedObjectID, _ entries: UnsafeBufferPointer<Entry>) -> Int? {
        buckets.withUnsafeBufferPointer { buckets in
            let mask = buckets.count - 1, key = id.key
            var index = id.mixed & mask
            while buckets[index] != 0 {
                let place = Int(buckets[index]) - 1
                if entries[place].key == key && Self.matches(entries[place], id) { return place }
                index = (index + 1) & mask
            }
            return nil
        }
    }

    @inline(__always)
    private static func matches(_ entry: Entry, _ id: NSManagedObjectID) -> Bool { entry.id === id || entry.id == id }

    /// Adds a value whose key does not come after all others, or may not.
    private mutating func append(_ value: Value, _ id: NSManagedObjectID) {
        if (entries.count + 1) * 2 > buckets.count {
            if count < entries.count / 2 { compact() }
            index(capacity: Swift.max(16, (entries.count + 1) * 4))
        }
        entries.append(Entry(key: id.key, id: id, value: value))
        count += 1
        link(entries.count - 1)
    }

    /// Drops the entries without a value.
    private mutating func compact() {
        entries.removeAll { $0.value == nil }
        if !buckets.isEmpty { index(capacity: Swift.max(16, entries.count * 4)) }
    }

    private mutating func index(capacity: Int) {
        var size = 16
        while size < capacity { size *= 2 }
        buckets = ContiguousArray(repeating: 0, count: size)
        for place in entries.indices { link(place) }
    }

    private mutating func link(_ place: Int) {
        let mask = buckets.count - 1
        var index = entries[place].id.mixed & mask
        while buckets[index] != 0 { index = (index + 1) & mask }
        buckets[index] = Int32(place + 1)
    }
}

extension IDTable.Entry: Sendable where Value: Sendable {}
extension IDTable: Sendable where Value: Sendable {}

extension IDTable: Equatable where Value: Equatable {
    /// Whatever the order.
    package static func == (left: IDTable, right: IDTable) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }
}

extension IDTable {
    /// One of the entries.
    package var first: Element? {
        var iterator = makeIterator()
        return iterator.next()
    }
}
