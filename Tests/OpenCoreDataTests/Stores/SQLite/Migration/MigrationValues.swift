import Foundation
import OpenCoreData

/// Values of attributes for the search, and what becomes of them in a wider type.
enum MigrationValues {
    static func value(_ type: NSAttributeDescription.AttributeType, _ seed: Int) -> AnyHashable? {
        switch type {
        case .integer16, .integer32, .integer64: Int64(seed - 50)
        case .boolean: seed % 2 == 0
        case .double, .float: Double(seed) / 4
        case .decimal: Decimal(seed) / 100
        case .string: "text \(seed)"
        case .date: Date(timeIntervalSinceReferenceDate: Double(seed) * 1000.5)
        case .binaryData: Data([UInt8(truncatingIfNeeded: seed), 0, 255])
        case .uuid: UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(truncatingIfNeeded: seed)))
        case .uri: URL(string: "https://host.example/\(seed)")
        default: nil
        }
    }

    /// As text, the same for a value however it is held.
    static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let value as Bool: value ? "1" : "0"
        case let value as Decimal: "\(value)"
        case let value as any BinaryInteger: "\(value)"
        case let value as Double: value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        case let value as Float: text(Double(value))
        case let value as Date: "date \(value.timeIntervalSinceReferenceDate)"
        case let value as Data: "data \(Array(value))"
        case let value as UUID: value.uuidString
        case let value as URL: value.absoluteString
        case let value?: "\(value)"
        }
    }
}
