import JSONReader
import OpenCoreData
import SyncConfiguration

/// The attribute that is the name under which a record stands in a map.
struct RecordName: Sendable {
    let slot: Int
    let attribute: AttributeConfiguration

    /// What the attribute of a record's object is.
    /// - Throws: `ConversionProblem` where the record has no name, or none that is a value of the attribute.
    func value(of record: JSONRecord) throws(ConversionProblem) -> AttributeValue {
        guard let name = record.memberName else {
            throw ConversionProblem(
                path: "$", message: "\(attribute.name): the record stands in a list, and has no name that map_key could take")
        }
        let text = String(name)
        guard let range else { return .string(text) }
        // As a number is written, and in no other way: of "7" and "07" one row would become.
        guard let number = Int64(text), "\(number)" == text else {
            throw ConversionProblem(
                path: "$", message: "\(attribute.name): the name \"\(ConversionProblem.quoted(text))\" is not an integer",
                cutText: ConversionProblem.cut(text))
        }
        guard range.contains(number) else {
            throw ConversionProblem(path: "$", message: "\(attribute.name): the name \"\(text)\" does not fit \(attribute.type)")
        }
        return .int64(number)
    }

    /// What integers it may be; nil: it is a text.
    private var range: ClosedRange<Int64>? {
        switch attribute.type {
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .int64: Int64.min...Int64.max
        case .string, .decimal, .double, .bool, .date, .uuid, .uri, .data, .json: nil
        }
    }

    /// Identifies a record's name; 0: it has none.
    func hash(of record: JSONRecord) -> UInt64 {
        record.memberName?.withUTF8 { JSONHash(of: UnsafeRawBufferPointer($0)).low } ?? 0
    }
}
