import Foundation

extension AttributeValue {
    /// A computed value, as an attribute of this type if one is given.
    init(_ value: PredicateValue, as type: NSAttributeType) {
        let plain: AttributeValue =
            switch value {
            case .null, .collection, .opaque: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .int64(value)
            case .double(let value): .double(value)
            case .decimal(let value): .decimal(value)
            case .string(let value): .string(value)
            case .date(let value): .date(value.timeIntervalSinceReferenceDate)
            case .data(let value): .data(value)
            case .uuid(let value): .uuid(value)
            case .url(let value): .object(ObjectBox(value))
            case .object(let object): (object.identity.base as? NSManagedObjectID).map { .objectID($0) } ?? .null
            }
        self = type == .undefinedAttributeType ? plain : AttributeValue.coded(plain.plain, as: type) ?? plain
    }
}
