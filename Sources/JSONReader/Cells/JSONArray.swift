import CSimdJSON

/// The elements of an array read by the plan of a `.record` field: an object as `.object`, an array inside the array as `.raw`, a scalar as
/// itself. Valid only until the closure which got it returns.
public struct JSONArray: Sequence {
    let page: JSONPageReference
    let first: UInt32
    public let count: Int

    public var isEmpty: Bool { count == 0 }

    public func makeIterator() -> Iterator {
        Iterator(page: page, upcoming: first)
    }

    public struct Iterator: IteratorProtocol {
        let page: JSONPageReference
        var upcoming: UInt32

        public mutating func next() -> JSONCell? {
            guard let item = take() else { return nil }
            return JSONCell(page.view.pointee.items[Int(item)], in: page)
        }

        mutating func take() -> UInt32? {
            guard upcoming != UInt32.max else { return nil }
            defer { upcoming = page.view.pointee.next_item[Int(upcoming)] }
            return upcoming
        }
    }

    public var underestimatedCount: Int { count }

    /// Calls the closure with each element and its JSON text.
    public func forEachRaw<Failure: Error>(_ body: (JSONCell, JSONRawValue) throws(Failure) -> Void) throws(Failure) {
        var iterator = makeIterator()
        while let item = iterator.take() {
            let cell = page.view.pointee.items[Int(item)]
            try body(JSONCell(cell, in: page), JSONRawValue(cell, in: page))
        }
    }
}
