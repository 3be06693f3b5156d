import CSimdJSON

/// One record of a page, or a nested object read by a plan of its own.
///
/// Everything in it points into the page and is valid only until the closure it was handed to returns; a use after that traps. What is to
/// stay is copied: `String(cellText)`, ``rawBytes``, ``JSONValue/init(_:)``.
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
