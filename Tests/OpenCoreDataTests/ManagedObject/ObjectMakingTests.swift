import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

final class CuriousObject: NSManagedObject {
    @Managed var name: String?
    @Managed var note: String?
    private(set) var seen: [String?] = []

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        seen = [name, (value(forKey: "friends") as? Set<NSManagedObject>)?.first?.value(forKey: "name") as? String]
        setPrimitiveValue("noted", forKey: "note")
        name = "changed"
    }
}

/// Initialisers of a class that look at the model's properties, or set them.
@Suite struct ObjectMakingTests {
    private static func model() -> NSManagedObjectModel {
        let curious = Company.entity("Curious"), note = Company.attribute("note", .string, optional: true, default: nil)
        note.isTransient = true
        curious.setManagedObjectClass(CuriousObject.self)
        curious.properties = [Company.attribute("name", .string, optional: true, default: nil), note]
        Company.relate(curious, "friends", many: true, curious, "friend", many: false)
        return NSManagedObjectModel(entities: [curious])
    }

    @Test(arguments: [true, false]) func whatTheyDoToAnObjectThatExistsIsNotKept(isFetched: Bool) throws {
        let stack = TestStack(Self.model())
        let id = try stack.root.performAndWait { () throws in
            let ada = CuriousObject(context: stack.root), bob = CuriousObject(context: stack.root)
            #expect(ada.name == "changed" && ada.note == "noted")
            ada.name = "Ada"
            bob.name = "Bob"
            bob.setValue(ada, forKey: "friend")
            try stack.root.save()
            return ada.objectID
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        try context.performAndWait { () throws in
            let request = NSFetchRequest<CuriousObject>(entityName: "Curious")
            request.predicate = NSPredicate(format: "SELF == %@", id)
            let ada = try #require(isFetched ? try context.fetch(request).first : context.object(with: id) as? CuriousObject)
            #expect(ada.seen == [nil, nil])
            #expect(ada.name == "Ada" && ada.note == nil && !ada.hasChanges && !context.hasChanges)
            #expect((ada.value(forKey: "friends") as? Set<NSManagedObject>)?.map { $0.value(forKey: "name") as? String } == ["Bob"])
            ada.name = "Ida"
            #expect(context.updatedObjects == [ada])
        }
        // The row that others share is as it was.
        #expect(Set(try stack.stored("Curious", "name")) == ["Ada", "Bob"])
        stack.root.performAndWait { #expect((stack.root.object(with: id) as? CuriousObject)?.name == "Ada") }
    }
}
