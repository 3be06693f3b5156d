import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// An object that writes down what is done to its values; of a model of its own, as the entity Witness.
final class SnapshotWitness: NSManagedObject {
    @Managed var name: String?
    @Managed var number: Int64
    @Managed var note: String?
    var snapshots: [NSSnapshotEventType] = []
    var faultings = 0
    /// What it calls itself whenever values come.
    var mark: String?

    override func awakeFromFetch() { if let mark { name = mark } }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        snapshots.append(flags)
        if let mark { name = mark }
    }
    override func didTurnIntoFault() { faultings += 1 }

    static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Witness", SnapshotWitness.self)
        let others = NSFetchRequest<any NSFetchRequestResult>(entityName: "Witness")
        others.predicate = NSPredicate(format: "SELF != $FETCH_SOURCE")
        let property = NSFetchedPropertyDescription()
        property.name = "others"
        property.fetchRequest = others
        entity.properties = [
            Company.attribute("name", .string), Company.attribute("number", .integer64, default: 0),
            Company.transient("note", .string), property,
        ]
        return NSManagedObjectModel(entities: [entity])
    }
}
