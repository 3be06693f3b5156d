import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A class with the accessors that a generator would write.
final class Typed: NSManagedObject {
    enum Mood: Int16 { case calm, cross }
    enum Colour: String { case red, blue }

    var name: String? {
        get { managedValue(forProperty: "name") }
        set { setManagedValue(newValue, forProperty: "name") }
    }
    var count: NSNumber? {
        get { managedValue(forProperty: "count") }
        set { setManagedValue(newValue, forProperty: "count") }
    }
    var price: NSDecimalNumber? {
        get { managedValue(forProperty: "price") }
        set { setManagedValue(newValue, forProperty: "price") }
    }
    var isNew: NSNumber? {
        get { managedValue(forProperty: "isNew") }
        set { setManagedValue(newValue, forProperty: "isNew") }
    }
    var made: NSDate? {
        get { managedValue(forProperty: "made") }
        set { setManagedValue(newValue, forProperty: "made") }
    }
    var mood: Mood {
        get { managedValue(forProperty: "mood") }
        set { setManagedValue(newValue, forProperty: "mood") }
    }
    var colour: Colour? {
        get { managedValue(forProperty: "colour") }
        set { setManagedValue(newValue, forProperty: "colour") }
    }
    var words: [String]? {
        get { managedValue(forProperty: "words") }
        set { setManagedValue(newValue, forProperty: "words") }
    }
    var anything: NSObject? {
        get { managedValue(forProperty: "anything") }
        set { setManagedValue(newValue, forProperty: "anything") }
    }
    var friends: NSSet? {
        get { managedValue(forProperty: "friends") }
        set { setManagedValue(newValue, forProperty: "friends") }
    }
    var maybeFriends: Set<Typed>? {
        get { managedValue(forProperty: "friends") }
        set { setManagedValue(newValue, forProperty: "friends") }
    }
    var list: NSOrderedSet? {
        get { managedValue(forProperty: "list") }
        set { setManagedValue(newValue, forProperty: "list") }
    }
    var writableList: NSMutableOrderedSet { managedValue(forProperty: "list") }
    var namesakes: [Typed] { managedValue(forProperty: "namesakes") }
    var primitiveName: String? {
        get { managedPrimitiveValue(forProperty: "primitiveName") }
        set { setManagedPrimitiveValue(newValue, forProperty: "primitiveName") }
    }
    @Managed var owner: Typed?

    static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Typed", Typed.self)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Typed")
        request.predicate = NSPredicate(format: "name == $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE")
        let namesakes = NSFetchedPropertyDescription()
        namesakes.name = "namesakes"
        namesakes.fetchRequest = request
        entity.properties = [
            Company.attribute("name", .string), Company.attribute("count", .integer32), Company.attribute("price", .decimal),
            Company.attribute("isNew", .boolean), Company.attribute("made", .date), Company.attribute("mood", .integer16, default: 0),
            Company.attribute("colour", .string), Company.attribute("words", .transformable), Company.attribute("anything", .transformable),
            namesakes,
        ]
        Company.relate(entity, "friends", many: true, entity, "friendsOf", many: true)
        Company.relate(entity, "list", many: true, entity, "owner", many: false, ordered: true)
        return NSManagedObjectModel(entities: [entity])
    }
}

@Suite struct GeneratedAccessorTests {
    private func run(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let stack = TestStack(Typed.model())
        try stack.root.performAndWait { try body(stack.root) }
    }

    @Test func foundationsClassesAreWrittenSavedAndRead() throws {
        try run { context in
            let object = Typed(context: context), made = NSDate(timeIntervalSinceReferenceDate: 12.5)
            #expect(object.count == nil && object.price == nil && object.made == nil && object.anything == nil && object.words == nil)
            object.count = 7
            object.price = NSDecimalNumber(string: "12.34")
            object.isNew = NSNumber(value: true)
            object.made = made
            object.words = ["a", "b"]
            object.anything = NSString("x")
            try context.save()
            context.refresh(object, mergeChanges: false)
            #expect(object.count == 7 && object.value(forKey: "count") as? Int == 7)
            #expect(object.price?.decimalValue == 12.34 && object.isNew?.boolValue == true && object.made == made)
            #expect(object.words == ["a", "b"] && object.value(forKey: "anything") as? String == "x")
            object.isNew = 0
            object.count = NSNumber(value: 3.7)
            #expect(object.value(forKey: "isNew") as? Bool == false && object.count == 3)
            object.count = nil
            object.words = nil
            #expect(object.count == nil && object.value(forKey: "words") == nil)
        }
    }

    @Test func enumerationsAreKeptAsTheirRawValues() throws {
        try run { context in
            let object = Typed(context: context)
            #expect(object.mood == .calm && object.colour == nil)
            object.mood = .cross
            object.colour = .blue
            #expect(object.value(forKey: "mood") as? Int == 1 && object.value(forKey: "colour") as? String == "blue")
            object.setValue("green", forKey: "colour")
            #expect(object.colour == nil && object.mood == .cross)
            object.colour = nil
            #expect(object.value(forKey: "colour") == nil)
        }
    }

    @Test func aPropertyIsLookedForByItsNameOnce() throws {
        try run { context in
            let object = Typed(context: context), names: [StaticString] = ["mood", "colour"]
            let _: Typed.Mood = object.managedValue(forProperty: names[0])
            let _: Typed.Colour? = object.managedValue(forProperty: names[1])
            for name in names { #expect(object.layout.namedPlaces[name.utf8Start] != nil, "\(name)") }
        }
    }

    @Test func aRawValueThatNobodyKnowsStopsTheProgramWhereThePropertyIsNotOptional() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(Typed.model())
            stack.root.performAndWait {
                let object = Typed(context: stack.root)
                object.setValue(9, forKey: "mood")
                _ = object.mood
            }
        }.trap(says: "Typed.mood is 9, which is no Mood")
    }

    @Test func toManysAreSetsAndFollowTheirInverses() throws {
        try run { context in
            let a = Typed(context: context), b = Typed(context: context), c = Typed(context: context)
            #expect(a.friends?.count == 0 && a.maybeFriends == [] && a.list?.count == 0)
            a.addManagedMembers(b, toProperty: "Friends")
            a.addManagedMembers(NSSet(array: [b, c]), toProperty: "friends")
            #expect(a.friends == NSSet(array: [b, c]) && a.maybeFriends == [b, c] && b.value(forKey: "friendsOf") as? Set<NSManagedObject> == [a])
            a.removeManagedMembers([b] as Set, fromProperty: "friends")
            #expect(a.maybeFriends == [c])
            a.friends = NSSet(object: a)
            #expect(a.maybeFriends == [a])
            a.maybeFriends = nil
            #expect(a.friends?.count == 0)
            a.list = NSOrderedSet(array: [c, b])
            #expect(a.list?.array as? [Typed] == [c, b] && b.owner == a)
            a.writableList.add(a)
            #expect(a.list?.array as? [Typed] == [c, b, a])
        }
    }

    @Test func orderedToManysAreEditedByPlace() throws {
        try run { context in
            let owner = Typed(context: context), objects = (0..<6).map { _ in Typed(context: context) }
            func numbers() -> [Int] { (owner.list?.array as? [Typed] ?? []).compactMap { objects.firstIndex(of: $0) } }
            owner.addManagedMembers(NSOrderedSet(array: [objects[0], objects[1]]), toProperty: "list")
            owner.insertManagedMember(objects[2], intoProperty: "List", at: 1)
            #expect(numbers() == [0, 2, 1])
            owner.insertManagedMembers([objects[3], objects[4]], intoProperty: "list", at: NSIndexSet(indexSet: [0, 4]))
            #expect(numbers() == [3, 0, 2, 1, 4])
            owner.removeManagedMember(fromProperty: "list", at: 1)
            owner.removeManagedMembers(fromProperty: "list", at: NSIndexSet(indexSet: [0, 3]))
            #expect(numbers() == [2, 1])
            owner.replaceManagedMember(ofProperty: "list", at: 0, with: objects[5])
            owner.replaceManagedMembers(ofProperty: "list", at: NSIndexSet(index: 1), with: [objects[0]])
            #expect(numbers() == [5, 0] && objects[2].owner == nil && objects[0].owner == owner)
            try context.save()
            context.refresh(owner, mergeChanges: false)
            #expect(numbers() == [5, 0])
        }
    }

    @Test func primitiveValuesArePastChangeTracking() throws {
        try run { context in
            let object = Typed(context: context)
            object.name = "a"
            try context.save()
            object.primitiveName = "b"
            #expect(object.name == "b" && object.primitiveName == "b" && !object.hasChanges)
        }
    }

    @Test func aFetchedPropertyIsWhatItFinds() throws {
        try run { context in
            let a = Typed(context: context), b = Typed(context: context)
            a.name = "x"
            b.name = "x"
            try context.save()
            #expect(a.namesakes == [b])
        }
    }

    @Test func aNameThatTheModelDoesntHaveStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(Typed.model())
            stack.root.performAndWait {
                let value: String? = Typed(context: stack.root).managedValue(forProperty: "nothing")
                _ = value
            }
        }.trap(says: "not key value coding-compliant for the key \"nothing\"")
    }

    @Test func keyPathsSortAndFetchByGeneratedProperties() throws {
        try run { context in
            for name in ["b", "a", "c"] { Typed(context: context).name = name }
            try context.save()
            let request = NSFetchRequest<Typed>(entityName: "Typed")
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Typed.name, ascending: true)]
            #expect(try context.fetch(request).map(\.name) == ["a", "b", "c"])
        }
    }
}
