import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// One property of each type.
final class Everything: NSManagedObject {
    @Managed var int16: Int16
    @Managed var int32: Int32
    @Managed var int64: Int64
    @Managed var int: Int
    @Managed var maybeInt: Int?
    @Managed var decimal: Decimal
    @Managed var double: Double
    @Managed var float: Float
    @Managed var string: String?
    @Managed var bool: Bool
    @Managed var date: Date?
    @Managed var data: Data?
    @Managed var uuid: UUID?
    @Managed var url: URL?
    @Managed var one: Everything?
    @Managed var many: Set<Everything>
    @Managed var list: [Everything]

    static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Everything", Everything.self)
        entity.properties = [
            Company.attribute("int16", .integer16), Company.attribute("int32", .integer32), Company.attribute("int64", .integer64),
            Company.attribute("int", .integer64, default: 5), Company.attribute("maybeInt", .integer64), Company.attribute("decimal", .decimal),
            Company.attribute("double", .double), Company.attribute("float", .float), Company.attribute("string", .string),
            Company.attribute("bool", .boolean), Company.attribute("date", .date), Company.attribute("data", .binaryData),
            Company.attribute("uuid", .uuid), Company.attribute("url", .uri),
        ]
        Company.relate(entity, "many", many: true, entity, "one", many: false)
        Company.relate(entity, "list", many: true, entity, "listOwner", many: false, ordered: true)
        return NSManagedObjectModel(entities: [entity])
    }
}

/// Classes of which one inherits from the other, and a model that has their properties in this order or the other way round.
class Vehicle: NSManagedObject {
    @Managed var wheels: Int64
    @Managed var name: String?
    @Managed var parts: Set<Vehicle>
}

final class Lorry: Vehicle {
    @Managed var load: Double
    @Managed var driver: String?

    static func model(reversed: Bool) -> NSManagedObjectModel {
        let vehicle = Company.entity("Vehicle", Vehicle.self), lorry = Company.entity("Lorry", Lorry.self)
        vehicle.properties = [Company.attribute("wheels", .integer64), Company.attribute("name", .string)]
        lorry.properties = [Company.attribute("load", .double), Company.attribute("driver", .string)]
        for entity in [vehicle, lorry] where reversed {
            entity.properties = [Company.attribute("first\(entity.name ?? "")", .string)] + entity.properties.reversed()
        }
        vehicle.subentities = [lorry]
        Company.relate(vehicle, "parts", many: true, vehicle, "whole", many: false)
        return NSManagedObjectModel(entities: [vehicle, lorry])
    }
}

/// Properties of Foundation's classes.
final class Boxed: NSManagedObject {
    @Managed var count: NSNumber?
    @Managed var price: NSDecimalNumber?
    @Managed var parts: NSSet?
    @Managed var steps: NSOrderedSet?

    static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Boxed", Boxed.self)
        entity.properties = [Company.attribute("count", .integer64), Company.attribute("price", .decimal)]
        Company.relate(entity, "parts", many: true, entity, "whole", many: false)
        Company.relate(entity, "steps", many: true, entity, "walk", many: false, ordered: true)
        return NSManagedObjectModel(entities: [entity])
    }
}

/// Properties that are kept as a raw value or as JSON.
final class Dog: NSManagedObject {
    enum Mood: Int16, ManagedValue, ManagedScalar { case calm, cross }
    enum Coat: String, ManagedValue, ManagedScalar { case short, long }
    /// No dog is of size 0.
    enum Size: Int64, ManagedValue, ManagedScalar { case small = 1, large }
    struct Chip: ManagedCodable, Equatable {
        var number: Int
        var maker: String?
    }

    @Managed var mood: Mood
    @Managed var coat: Coat?
    @Managed var size: Size
    @Managed var chip: Chip?

    static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Dog", Dog.self)
        entity.properties = [
            Company.attribute("mood", .integer16), Company.attribute("coat", .string), Company.attribute("size", .integer64),
            Company.attribute("chip", .binaryData),
        ]
        return NSManagedObjectModel(entities: [entity])
    }
}

@Suite struct ManagedPropertyTests {
    // A5, L1
    @Test func everyTypeIsWrittenSavedAndRead() throws {
        let stack = TestStack(Everything.model())
        try stack.root.performAndWait { () throws in
            let object = Everything(context: stack.root), other = Everything(context: stack.root)
            let date = Date(timeIntervalSinceReferenceDate: 123.5), uuid = UUID()
            object.int16 = -16
            object.int32 = 32
            object.int64 = .max
            object.maybeInt = 7
            object.decimal = 12.34
            object.double = 0.1
            object.float = 1.5
            object.string = "täxt"
            object.bool = true
            object.date = date
            object.data = Data([1, 2, 3])
            object.uuid = uuid
            object.url = URL(string: "https://example.org/a")
            object.one = other
            object.list = [other, object]
            try stack.root.save()
            let id = object.objectID
            stack.root.reset()
            let again = try #require(stack.root.object(with: id) as? Everything)
            #expect(again.int16 == -16 && again.int32 == 32 && again.int64 == .max && again.int == 5 && again.maybeInt == 7)
            #expect(again.decimal == 12.34 && again.double == 0.1 && again.float == 1.5 && again.string == "täxt" && again.bool)
            #expect(again.date == date && again.data == Data([1, 2, 3]) && again.uuid == uuid)
            #expect(again.url?.absoluteString == "https://example.org/a")
            #expect(again.one?.many == [again] && again.one?.objectID == other.objectID)
            #expect(again.list.map(\.objectID) == [other.objectID, id])
        }
    }

    @Test func aNullReadsAsZeroWhereThePropertyIsNotOptional() {
        let stack = TestStack(Everything.model())
        stack.root.performAndWait {
            let object = Everything(context: stack.root)
            #expect(object.int16 == 0 && object.decimal == 0 && object.double == 0 && !object.bool && object.maybeInt == nil && object.url == nil)
            object.maybeInt = 3
            object.maybeInt = nil
            #expect(object.maybeInt == nil && object.value(forKey: "maybeInt") == nil)
        }
    }

    @Test func aClassOfTwoModelsHasItsPropertiesWhereEachHasThem() throws {
        for reversed in [false, true, false] {
            let model = Lorry.model(reversed: reversed), stack = TestStack(model)
            try stack.root.performAndWait { () throws in
                let vehicle = Vehicle(entity: try #require(model.entitiesByName["Vehicle"]), insertInto: stack.root)
                let lorry = Lorry(entity: try #require(model.entitiesByName["Lorry"]), insertInto: stack.root)
                for (number, object) in [vehicle, lorry].enumerated() {
                    object.wheels = Int64(4 + number)
                    object.name = "n\(number)"
                }
                lorry.load = 7.5
                lorry.driver = "d"
                lorry.parts = [vehicle]
                #expect(vehicle.wheels == 4 && vehicle.name == "n0" && lorry.wheels == 5 && lorry.name == "n1")
                #expect(lorry.load == 7.5 && lorry.driver == "d" && lorry.parts == [vehicle] && vehicle.parts.isEmpty)
                #expect(lorry.value(forKey: "wheels") as? Int == 5 && lorry.value(forKey: "name") as? String == "n1")
                #expect(lorry.value(forKey: "load") as? Double == 7.5 && lorry.value(forKey: "driver") as? String == "d")
            }
        }
    }

    @Test func aPropertyMayBeOfAClassOfFoundations() throws {
        let stack = TestStack(Boxed.model())
        try stack.root.performAndWait { () throws in
            let boxed = Boxed(context: stack.root), first = Boxed(context: stack.root), second = Boxed(context: stack.root)
            #expect(boxed.count == nil && boxed.price == nil && boxed.parts?.count == 0 && boxed.steps?.count == 0)
            boxed.count = 7
            boxed.price = NSDecimalNumber(string: "12.34")
            boxed.parts = NSSet(array: [first, second])
            boxed.steps = NSOrderedSet(array: [second, first])
            try stack.root.save()
            stack.root.refreshAllObjects()
            #expect(boxed.count == 7 && boxed.price == NSDecimalNumber(string: "12.34"))
            #expect(boxed.parts == NSSet(array: [second, first]) && boxed.steps?.array as? [Boxed] == [second, first])
            #expect(first.value(forKey: "whole") as? Boxed == boxed)
            boxed.count = nil
            boxed.parts = nil
            boxed.steps = NSOrderedSet(object: first)
            #expect(boxed.value(forKey: "count") == nil && boxed.parts?.count == 0 && boxed.steps?.array as? [Boxed] == [first])
        }
    }

    @Test func aPropertyMayBeOfATypeWithRawValuesOrOfACodableOne() throws {
        let stack = TestStack(Dog.model())
        try stack.root.performAndWait { () throws in
            let dog = Dog(context: stack.root)
            #expect(dog.mood == .calm && dog.coat == nil && dog.chip == nil)
            dog.mood = .cross
            dog.coat = .long
            dog.size = .large
            dog.chip = Dog.Chip(number: 7)
            #expect(dog.value(forKey: "mood") as? Int == 1 && dog.value(forKey: "coat") as? String == "long")
            #expect(dog.value(forKey: "size") as? Int == 2)
            #expect(dog.value(forKey: "chip") as? Data == Data(#"{"number":7}"#.utf8))
            try stack.root.save()
            stack.root.reset()
            let request = NSFetchRequest<Dog>(entityName: "Dog")
            request.predicate = NSPredicate(format: "mood == 1 AND coat == 'long'")
            let found = try #require(try stack.root.fetch(request).first)
            #expect(found.mood == .cross && found.coat == .long && found.size == .large && found.chip == Dog.Chip(number: 7))
            found.chip = nil
            found.coat = nil
            #expect(found.value(forKey: "chip") == nil && found.value(forKey: "coat") == nil)
            // What the type does not know is nil.
            found.setValue("curly", forKey: "coat")
            found.setValue(Data("{}".utf8), forKey: "chip")
            #expect(found.coat == nil && found.chip == nil)
        }
    }

    // E2
    @Test func aRawValueThatTheTypeDoesNotKnowStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(Dog.model())
            stack.root.performAndWait {
                let dog = Dog(context: stack.root)
                dog.setValue(9, forKey: "mood")
                _ = dog.mood
            }
        }.trap(says: "Dog.mood is 9, which is no Mood")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(Dog.model())
            stack.root.performAndWait { _ = Dog(context: stack.root).size }
        }.trap(says: "Dog.size is nil, which is no Size")
    }

    @Test func propertiesAndKeyValueCodingSeeTheSameValues() {
        let stack = TestStack(Everything.model())
        stack.root.performAndWait {
            let object = Everything(context: stack.root), other = Everything(context: stack.root)
            object.setValue(9, forKey: "int32")
            object.setValue(other, forKey: "one")
            #expect(object.int32 == 9 && object.one == other && other.value(forKey: "many") as? Set<NSManagedObject> == [object])
            object.string = "a"
            #expect(object.value(forKey: "string") as? String == "a" && object.value(forKeyPath: "one.int") as? Int == 5)
            #expect(object.changedValues()["string"] as? String == "a")
        }
    }

    // E2
    @Test func aNullReadAsAStringThatIsNotOptionalStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait {
                let person = Person(context: stack.root)
                person.setValue(nil, forKey: "name")
                _ = person.name
            }
        }.trap(says: "Person.name is nil")
    }
}
