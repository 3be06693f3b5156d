import Foundation

/// Values without a column type of their own as bytes: what the attribute's transformer makes of them; without one a keyed archive.
enum TransformableCoding {
    /// Throws 134030 with a sentence if there is no such transformer, or it gives no data, or the value can't be archived.
    ///
    /// - Parameter name: the attribute with its entity, for sentences.
    static func data(_ value: AnyHashable, of attribute: NSAttributeDescription?, named name: String) throws -> Data {
        if let transformerName = attribute?.valueTransformerName {
            guard let transformer = Transformer(transformerName) else { throw NSError.coreData(.persistentStoreSave, missing(transformerName, name)) }
            guard transformer.goesBack else {
                throw NSError.coreData(
                    .persistentStoreSave,
                    "The value transformer \"\(transformerName)\" of \(name) does not transform back, so that no value would ever be read again. Name another."
                )
            }
            if let data = transformer.data(value.base) { return data }
            throw NSError.coreData(
                .persistentStoreSave,
                "The value transformer \"\(transformerName)\" makes no data of the value of \(name), which has type \(type(of: value.base)).")
        }
        guard KeyedArchive.canArchive(value.base) else {
            throw NSError.coreData(
                .persistentStoreSave,
                "The value of \(name) has type \(type(of: value.base)), which can't be archived. Use property-list types or a class "
                    + "that adopts NSCoding, name a value transformer, or keep it as Data.")
        }
        do {
            return try NSKeyedArchiver.archivedData(withRootObject: value.base, requiringSecureCoding: false)
        } catch {
            throw NSError.coreData(.persistentStoreSave, "The value of \(name) can't be archived.", underlying: error)
        }
    }

    /// Nil if no value can be made of the bytes here.
    static func value(_ data: Data, of attribute: NSAttributeDescription?) -> AnyHashable? {
        if let name = attribute?.valueTransformerName {
            return Transformer(name)?.value(data).flatMap { native($0) as? AnyHashable }
        }
        return KeyedArchive(data)?.made().flatMap { native($0) as? AnyHashable }
    }

    /// Why no value can be made; nil where nothing is known.
    static func reason(_ attribute: NSAttributeDescription?, named name: String) -> String? {
        guard let transformerName = attribute?.valueTransformerName else { return nil }
        if Transformer(transformerName) == nil { return missing(transformerName, name) }
        return "The value transformer \"\(transformerName)\" makes no value of what is stored of \(name)."
    }

    private static func missing(_ transformer: String, _ name: String) -> String {
        "\(name) names the value transformer \"\(transformer)\", which nobody has registered. Call "
            + "ValueTransformer.setValueTransformer(_:forName:) before the store is added."
    }

    /// A transformer, in the direction of Core Data.
    private struct Transformer {
        private let transformer: ValueTransformer

        init?(_ name: String) {
            guard let known = ValueTransformer(forName: NSValueTransformerName(name)) else { return nil }
            transformer = known
        }

        func data(_ value: Any) -> Data? {
            let made = transformer.unarchives ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
            return made as? Data ?? (made as? NSData).map { Data(referencing: $0) }
        }

        /// Whether what it makes of a value leads back to it.
        var goesBack: Bool { Swift.type(of: transformer).allowsReverseTransformation() }

        func value(_ data: Data) -> Any? {
            if transformer.unarchives { return transformer.transformedValue(data) }
            return goesBack ? transformer.reverseTransformedValue(data) : nil
        }
    }

    /// Foundation's classes as the Swift values they stand for.
    private static func native(_ value: Any) -> Any {
        switch value {
        case let string as NSString: return string.description
        case let number as NSNumber: return number
        case let data as NSData: return Data(referencing: data)
        case let date as NSDate: return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let url as NSURL: return (URL(string: url.absoluteString) ?? url) as Any
        case let uuid as NSUUID: return (UUID(uuidString: uuid.uuidString) ?? uuid) as Any
        case let list as NSArray: return list.allObjectsInOrder.map { native($0) as? AnyHashable ?? AnyHashable("") }
        case let set as NSSet: return Set(set.allObjects.compactMap { native($0) as? AnyHashable })
        case let dictionary as NSDictionary:
            var result: [AnyHashable: AnyHashable] = [:]
            for key in dictionary.allKeys {
                guard let name = native(key) as? AnyHashable, let object = dictionary.object(forKey: key) else { continue }
                result[name] = native(object) as? AnyHashable
            }
            return result
        default: return value
        }
    }
}

extension NSArray {
    fileprivate var allObjectsInOrder: [Any] { (0..<count).map { object(at: $0) } }
}
