/// Writes the values of packed rows, one after the other; what kind each is goes to the row's head.
struct PackedRowWriter {
    /// Where the next value goes.
    var place: UnsafeMutableRawPointer

    @inline(__always)
    mutating func put(integer: Int64) -> PackedRow.Kind {
        if let small = Int8(exactly: integer) {
            store(small)
            return .int8
        }
        if let small = Int16(exactly: integer) {
            store(small)
            return .int16
        }
        if let small = Int32(exactly: integer) {
            store(small)
            return .int32
        }
        store(integer)
        return .int64
    }

    @inline(__always)
    mutating func put(double: Double) -> PackedRow.Kind { put(double, .double, whole: .wholeDouble) }

    @inline(__always)
    mutating func put(date: Double) -> PackedRow.Kind { put(date, .date, whole: .wholeDate) }

    @inline(__always)
    private mutating func put(_ number: Double, _ kind: PackedRow.Kind, whole: PackedRow.Kind) -> PackedRow.Kind {
        // The bits are compared, since a negative zero is no integer.
        if abs(number) <= Double(Int32.max), case let small = Int32(number), Double(small).bitPattern == number.bitPattern {
            store(small)
            return whole
        }
        store(number)
        return kind
    }

    /// - Parameter length: at most `PackedRow.longestText`.
    @inline(__always)
    mutating func put(text: UnsafeRawPointer?, _ length: Int) -> PackedRow.Kind {
        let isShort = length <= Int(UInt8.max)
        if isShort { store(UInt8(length)) } else { store(UInt16(length)) }
        put(text, length)
        return isShort ? .shortString : .string
    }

    @inline(__always)
    mutating func put(uuid: UnsafeRawPointer?) -> PackedRow.Kind {
        put(uuid, MemoryLayout<uuid_t>.size)
        return .uuid
    }

    /// - Parameter data: at most `PackedRow.longestData`.
    mutating func put(data: UnsafeRawBufferPointer) -> PackedRow.Kind {
        store(UInt32(data.count))
        put(data.baseAddress, data.count)
        return .data
    }

    /// Retains the ID.
    @inline(__always)
    mutating func put(reference: NSManagedObjectID) -> PackedRow.Kind {
        store(UInt(bitPattern: Unmanaged.passRetained(reference).toOpaque()))
        return .objectID
    }

    /// A number in place of a reference.
    @inline(__always)
    mutating func put(target: Int) -> PackedRow.Kind {
        store(UInt(target))
        return .objectID
    }

    @inline(__always)
    private mutating func store<T: BitwiseCopyable>(_ value: T) {
        place.storeBytes(of: value, as: T.self)
        place += MemoryLayout<T>.size
    }

    @inline(__always)
    private mutating func put(_ source: UnsafeRawPointer?, _ length: Int) {
        if let source { place.copyMemory(from: source, byteCount: length) }
        place += length
    }
}
