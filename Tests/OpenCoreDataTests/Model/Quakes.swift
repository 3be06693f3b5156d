import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Earthquakes with a magnitude of several scales, one of which is composed itself.
enum Quakes {
    static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType, isOptional: Bool = true, defaultValue: Any? = nil
    ) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: type, isOptional: isOptional, defaultValue: defaultValue)
    }

    static func composite(_ name: String, _ elements: [NSAttributeDescription], isOptional: Bool = true) -> NSCompositeAttributeDescription {
        let made = NSCompositeAttributeDescription()
        made.name = name
        made.elements = elements
        made.isOptional = isOptional
        return made
    }

    static func magnitude(isOptional: Bool = true) -> NSCompositeAttributeDescription {
        composite(
            "magnitude",
            [
                attribute("richter", .double), attribute("scale", .string, isOptional: false, defaultValue: "ML"),
                composite("felt", [attribute("reports", .integer32), attribute("since", .date)]),
            ], isOptional: isOptional)
    }

    static func entity(_ magnitude: NSCompositeAttributeDescription = Quakes.magnitude()) -> NSEntityDescription {
        let quake = NSEntityDescription()
        quake.name = "Quake"
        quake.properties = [attribute("code", .string), magnitude, attribute("place", .string)]
        return quake
    }

    static func entities() -> [NSEntityDescription] {
        let quake = entity(), region = NSEntityDescription()
        region.name = "Region"
        let quakes = NSRelationshipDescription(), of = NSRelationshipDescription()
        (quakes.name, quakes.destinationEntity, quakes.maxCount, quakes.inverseRelationship) = ("quakes", quake, 0, of)
        (of.name, of.destinationEntity, of.maxCount, of.inverseRelationship) = ("region", region, 1, quakes)
        region.properties = [attribute("name", .string), quakes]
        quake.properties += [of]
        return [quake, region]
    }
}

extension NSManagedObjectContext {
    /// A new quake.
    func quake(_ code: String, _ magnitude: [String: Any]?) -> NSManagedObject {
        let quake = make("Quake", ["code": code])[0]
        quake.setValue(magnitude, forKey: "magnitude")
        return quake
    }

    /// What a fetch finds, by an attribute.
    func found(_ format: String, _ arguments: Any..., entity: String = "Quake", key: String = "code") throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try fetch(request).map { try #require($0.value(forKey: key) as? String) }
    }
}
