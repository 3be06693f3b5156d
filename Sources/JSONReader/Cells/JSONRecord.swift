import CSimdJSON

/// One record of a page, or a nested object read by a plan of its own.
///
/// Everything in it points into the page and is valid only until the closure it was handed to returns; a use after that traps. Copy what must stay:
/// `String(cellText)`, ``rawBytes``, ``JSONValue/init(_:)``.
public struct JSONRecord {
    let page: JSONPageReference
    let instance: UInt32

    /// The place of the record among those of the page, from 0; the same for all that is nested in it.
    public var index: Int { Int(page.view.pointee.record_index) }

    /// Why this record must not be used, if so. Its cells are then incomplete, its raw bytes are all there. Of the outermost record only:
    /// nested ones have none of their own.
    public var problem: JSONRecordProblem? {
        let view = page.view
        return instance == 0 ? JSONRecordProblem(view) : nil
    }

    /// The name under which the record, or what it stands in, is a member of an object that the path of the records goes over with a wildcard: of the
    /// innermost one. `nil`: there is none. The same for all that is nested in the record.
    public var memberName: JSONString? {
        let cell = page.view.pointee.member
        return Int(cell.kind) == CSJ_STRING ? JSONString(cell, in: page) : nil
    }

    private var object: csj_instance {
        page.view.pointee.instances[Int(instance)]
    }

    /// The cell of the field with this index in the plan. An index the plan does not have traps.
    public subscript(field: Int) -> JSONCell {
        JSONCell(cell(field), in: page)
    }

    /// The JSON text of a field's value, `nil` if the field is missing; for numbers all of their digits.
    public func rawValue(of field: Int) -> JSONRawValue? {
        let cell = cell(field)
        switch Int(cell.kind) {
        case CSJ_MISSING: return nil
        case CSJ_RECORD:
            let object = page.view.pointee.instances[Int(cell.payload)]
            return JSONRawValue(page: page, byteOffset: Int(object.offset), utf8Count: Int(object.length))
        default: return JSONRawValue(cell, in: page)
        }
    }

    @inline(__always)
    private func cell(_ field: Int) -> csj_cell {
        let view = page.view
        precondition(field >= 0 && field < csj_view_field_count(view, instance), "JSONRecord: the plan has no field \(field)")
        return csj_view_cell(view, instance, UInt32(field))
    }

    /// The JSON text of the record.
    public var raw: JSONRawValue {
        let object = object
        return JSONRawValue(page: page, byteOffset: Int(object.offset), utf8Count: Int(object.length))
    }

    /// Where the record starts in the body.
    public var byteOffset: Int { Int(object.offset) }

    /// A copy of the record's JSON text, for quarantine.
    public var rawBytes: [UInt8] { raw.bytes }

    /// XXH3-128 of the record's JSON text, computed when asked for.
    public var hash: JSONHash { raw.hash }

    /// Line and column where the record starts. Goes over the body from its beginning: for messages, not for every record.
    public var location: JSONLocation {
        let view = page.view
        return JSONLocation(offset: byteOffset, in: UnsafeBufferPointer(start: view.pointee.body, count: view.pointee.body_length))
    }

    /// The keys of the record no field starts with, in document order, as `.string` cells; empty unless the plan collects them.
    public var unknownKeys: JSONArray {
        let object = object
        return JSONArray(page: page, first: object.first_unknown, count: Int(object.unknown_count))
    }
}

/// What was found for a field. Its text points into the page: like the record it comes from, a cell is valid only until the closure it was
/// handed to returns. Looking at a string, span, record or array after that traps.
public enum JSONCell {
    /// None of the field's paths exists in the record.
    case missing
    /// A JSON `null`, unlike a value that is not there.
    case null
    /// JSON `true` or `false`.
    case bool(Bool)
    /// A number written without fraction and exponent, within int64.
    case int64(Int64)
    /// A number written with a fraction or an exponent, or `-0`: the nearest double. Its digits are in ``JSONRecord/rawValue(of:)``.
    case double(Double)
    /// A number that neither an int64 nor a double can stand for: an integer beyond int64, `1e400`, `1e-999`. ASCII as in the document.
    case bigNumber(JSONRawValue)
    /// Text with its escapes decoded when it is read.
    case string(JSONString)
    /// The JSON text of a value: of an object or array met by a `.value` field, of anything for a `.raw` field.
    case raw(JSONRawValue)
    /// An object read by the plan of a `.record` field.
    case object(JSONRecord)
    /// An array read by the plan of a `.record` field.
    case array(JSONArray)
}

extension JSONCell {
    /// Whether none of the field's paths exists; a `null` exists.
    public var isMissing: Bool {
        if case .missing = self { true } else { false }
    }

    /// Missing or `null`.
    public var isNil: Bool {
        switch self {
        case .missing, .null: true
        default: false
        }
    }

    /// The decoded text of a string.
    public var stringValue: String? {
        if case .string(let text) = self { String(text) } else { nil }
    }

    /// The integer of an `.int64`.
    public var int64Value: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    /// The nearest double of an `.int64` or `.double`.
    public var doubleValue: Double? {
        switch self {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The truth value of a `.bool`; `nil` for anything else.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Inlined so that the parts are written to where they stay: copying a cell that was just written part by part is what takes time.
    @inline(__always)
    init(_ cell: csj_cell, in page: JSONPageReference) {
        switch Int(cell.kind) {
        case CSJ_NULL: self = .null
        case CSJ_FALSE: self = .bool(false)
        case CSJ_TRUE: self = .bool(true)
        case CSJ_INT64: self = .int64(Int64(bitPattern: cell.payload))
        case CSJ_DOUBLE: self = .double(Double(bitPattern: cell.payload))
        case CSJ_BIG_NUMBER: self = .bigNumber(JSONRawValue(cell, in: page))
        case CSJ_STRING: self = .string(JSONString(cell, in: page))
        case CSJ_RAW: self = .raw(JSONRawValue(cell, in: page))
        case CSJ_RECORD: self = .object(JSONRecord(page: page, instance: UInt32(truncatingIfNeeded: cell.payload)))
        case CSJ_ARRAY: self = .array(JSONArray(page: page, first: UInt32(truncatingIfNeeded: cell.payload), count: Int(cell.count)))
        default: self = .missing
        }
    }
}

/// The elements of an array read by the plan of a `.record` field: an object as `.object`, an array inside the array as `.raw`, a scalar as
/// itself. Valid only until the closure which got it returns.
public struct JSONArray: Sequence {
    let page: JSONPageReference
    let first: UInt32
    /// Number of elements, known without a walk.
    public let count: Int

    /// Whether there are no elements.
    public var isEmpty: Bool { count == 0 }

    /// From the first element, however often it is called; valid no longer than the array itself.
    public func makeIterator() -> Iterator {
        Iterator(page: page, upcoming: first)
    }

    /// Goes through the elements in document order, and copies none. Valid no longer than the array itself.
    public struct Iterator: IteratorProtocol {
        let page: JSONPageReference
        var upcoming: UInt32

        /// The next element, `nil` after the last. Taking one traps once the closure that got the array has returned.
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

    /// The exact ``count``.
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
