import Foundation
import GRDB
import OpenCoreData

/// What is imported: a stop of a bus, eight attributes. Once as a managed object, once as a record of GRDB.
final class Stop: NSManagedObject {
    @Managed var identifier: Int64
    @Managed var name: String
    @Managed var latitude: Double
    @Managed var longitude: Double
    @Managed var zone: Int64
    @Managed var platform: String?
    @Managed var isAccessible: Bool
    @Managed var changed: Date

    static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Stop"
        entity.setManagedObjectClass(Stop.self)
        func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
            NSAttributeDescription(name: name, type: type, isOptional: true, defaultValue: nil)
        }
        entity.properties = [
            attribute("identifier", .integer64), attribute("name", .string), attribute("latitude", .double), attribute("longitude", .double),
            attribute("zone", .integer64), attribute("platform", .string), attribute("isAccessible", .boolean), attribute("changed", .date),
        ]
        return NSManagedObjectModel(entities: [entity])
    }

    /// Another version of the model; nil for a change that is not known.
    static func model(changed: String) -> NSManagedObjectModel? {
        let model = model(), entity = model.entities[0]
        switch changed {
        case "same": break
        case "attribute": entity.properties += [NSAttributeDescription(name: "added", type: .string)]
        case "default": entity.properties += [NSAttributeDescription(name: "added", type: .integer64, isOptional: false, defaultValue: 7)]
        case "rename":
            entity.propertiesByName["name"]?.renamingIdentifier = "name"
            entity.propertiesByName["name"]?.name = "title"
        case "wider": entity.attributesByName["zone"]?.type = .double
        default: return nil
        }
        return model
    }

    func fill(_ number: Int) {
        identifier = Int64(number)
        name = "Stop at the corner number \(number)"
        latitude = 52.3 + Double(number % 1000) / 2000
        longitude = 13.1 + Double(number % 777) / 1000
        zone = Int64(number % 3)
        platform = number % 2 == 0 ? "platform \(number % 12)" : nil
        isAccessible = number % 5 != 0
        changed = Date(timeIntervalSinceReferenceDate: Double(number))
    }
}

/// The same row, as GRDB's documentation writes records by hand.
struct StopRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "stop"

    var identifier: Int64
    var name: String
    var latitude: Double
    var longitude: Double
    var zone: Int64
    var platform: String?
    var isAccessible: Bool
    var changed: Date

    init(_ number: Int) {
        identifier = Int64(number)
        name = "Stop at the corner number \(number)"
        latitude = 52.3 + Double(number % 1000) / 2000
        longitude = 13.1 + Double(number % 777) / 1000
        zone = Int64(number % 3)
        platform = number % 2 == 0 ? "platform \(number % 12)" : nil
        isAccessible = number % 5 != 0
        changed = Date(timeIntervalSinceReferenceDate: Double(number))
    }

    init(row: Row) {
        identifier = row["identifier"]
        name = row["name"]
        latitude = row["latitude"]
        longitude = row["longitude"]
        zone = row["zone"]
        platform = row["platform"]
        isAccessible = row["isAccessible"]
        changed = Date(timeIntervalSinceReferenceDate: row["changed"])
    }

    func encode(to container: inout PersistenceContainer) {
        container["identifier"] = identifier
        container["name"] = name
        container["latitude"] = latitude
        container["longitude"] = longitude
        container["zone"] = zone
        container["platform"] = platform
        container["isAccessible"] = isAccessible
        container["changed"] = changed.timeIntervalSinceReferenceDate
    }

    static func createTable(in database: Database) throws {
        try database.create(table: databaseTableName) { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("identifier", .integer)
            table.column("name", .text)
            table.column("latitude", .double)
            table.column("longitude", .double)
            table.column("zone", .integer)
            table.column("platform", .text)
            table.column("isAccessible", .boolean)
            table.column("changed", .double)
        }
    }
}
