import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Names are capitalised on the way in and greeted on the way out; some properties are no part of the model.
class Guest: NSManagedObject {
    @Managed var name: String?
    @Managed var age: Int16
    @Managed var size: Double
    @Managed var seats: [Guest]
    @Managed var friends: Set<Guest>
    @Managed var host: Guest?
    var calls: [String] = []

    var greeted: String? {
        get {
            calls.append("greeted")
            return (primitiveValue(forKey: "name") as? String).map { "Dear \($0)" }
        }
        set { name = newValue?.capitalized }
    }
    var years: Int16 {
        get { age }
        set { age = newValue + 1 }
    }
    var chairs: [Guest] {
        get { seats.reversed() }
        set { seats = newValue }
    }
    var company: Set<Guest> {
        get { friends }
        set {
            calls.append("company")
            friends = newValue
        }
    }
    var nearest: Guest? {
        get { host }
        set { host = newValue }
    }
    var shoutedSize: String { "\(size)!" }
    var fullName: String { "\(name ?? "?") of \(title)" }
    var initial: Character? { name?.first }
    var title: String { "nowhere" }
    var mood = "good"

    override class var keyedAccessors: [KeyedAccessor] {
        [
            KeyedAccessor("name", \Guest.greeted), KeyedAccessor("age", \Guest.years), KeyedAccessor("seats", \Guest.chairs),
            KeyedAccessor("friends", \Guest.company), KeyedAccessor("host", \Guest.nearest), KeyedAccessor("size", \Guest.shoutedSize),
            KeyedAccessor("fullName", \Guest.fullName), KeyedAccessor("mood", \Guest.mood), KeyedAccessor("initial", \Guest.initial),
        ]
    }
}

/// Names two of its keys again.
final class GuestOfHonour: Guest {
    override var title: String { "the court" }
    var grandName: String { "H. M. \(name ?? "?")" }

    override class var keyedAccessors: [KeyedAccessor] {
        [KeyedAccessor("fullName", \GuestOfHonour.grandName), KeyedAccessor("title", \GuestOfHonour.title)]
    }
}

/// Trims names and refuses "nobody"; nobody is thirteen.
class Applicant: NSManagedObject {
    @Managed var name: String?
    @Managed var age: Int16

    func validateName(_ name: inout String?) throws {
        if name == "nobody" { throw NSError(domain: "test", code: 7) }
        name = name?.trimmingCharacters(in: .whitespaces)
    }

    func validateAge(_ age: inout Int16?) throws {
        if age == 13 { age = 12 }
    }

    override class var keyedValidators: [KeyedValidator] {
        [KeyedValidator("name", Applicant.validateName), KeyedValidator("age", Applicant.validateAge)]
    }
}

/// Is thirteen, but never fourteen.
final class YoungApplicant: Applicant {
    func validateMyAge(_ age: inout Int16?) throws {
        if age == 14 { throw NSError(domain: "test", code: 14) }
    }

    override class var keyedValidators: [KeyedValidator] { [KeyedValidator("age", YoungApplicant.validateMyAge)] }
}

/// Registers nothing.
final class Stranger: NSManagedObject {
    @Managed var name: String?
}

/// Names a property of a class that it does not inherit from.
final class Impostor: NSManagedObject {
    override class var keyedAccessors: [KeyedAccessor] { [KeyedAccessor("name", \Guest.greeted)] }
}

@Suite struct KeyedAccessorTests {
    fileprivate static func model() -> NSManagedObjectModel {
        let guest = Company.entity("Guest", Guest.self), honoured = Company.entity("GuestOfHonour", GuestOfHonour.self)
        let applicant = Company.entity("Applicant", Applicant.self), young = Company.entity("YoungApplicant", YoungApplicant.self)
        let stranger = Company.entity("Stranger", Stranger.self), impostor = Company.entity("Impostor", Impostor.self)
        guest.properties = [
            Company.attribute("name", .string), Company.attribute("age", .integer16, default: 18), Company.attribute("size", .double, default: 1.5),
        ]
        Company.relate(guest, "seats", many: true, guest, "table", many: false, ordered: true)
        Company.relate(guest, "friends", many: true, guest, "friendOf", many: true)
        Company.relate(guest, "host", many: false, guest, "hosted", many: true)
        guest.subentities = [honoured]
        let age = Company.attribute("age", .integer16, default: 18), name = Company.attribute("name", .string)
        age.maximumValue = 99
        name.maximumValue = 8
        applicant.properties = [name, age]
        applicant.subentities = [young]
        stranger.properties = [Company.attribute("name", .string)]
        impostor.properties = [Company.attribute("name", .string)]
        return NSManagedObjectModel(entities: [guest, honoured, applicant, young, stranger, impostor])
    }

    private func withGuest(_ entity: String = "Guest", _ body: (TestStack, NSManagedObjectContext, Guest) throws -> Void) throws {
        let stack = TestStack(Self.model())
        try stack.root.performAndWait { () throws in
            let guest = try #require(stack.root.make(entity) as? Guest)
            guest.name = "Ada"
            try body(stack, stack.root, guest)
        }
    }

    // L26
    @Test func aRegisteredAccessorIsFoundByItsKey() throws {
        try withGuest { (stack, context, guest) throws in
            guest.setValue("ida king", forKey: "name")
            #expect(guest.name == "Ida King" && guest.value(forKey: "name") as? String == "Dear Ida King")
            #expect(guest.value(forKeyPath: "name") as? String == "Dear Ida King")
            guest.setValue(nil, forKey: "name")
            #expect(guest.name == nil && guest.value(forKey: "name") == nil)
            guest.setValuesForKeys(["name": "eve", "age": 20, "host": NSNull()])
            let values = guest.dictionaryWithValues(forKeys: ["name", "age", "host"])
            #expect(values["name"] as? String == "Dear Eve" && values["age"] as? Int == 21 && values["host"] is NSNull)
            #expect(guest.name == "Eve" && guest.age == 21 && guest.host == nil)
        }
    }

    // L26
    @Test func storageIsReachedPastTheAccessorAndWithoutCallingItAgain() throws {
        try withGuest { (stack, context, guest) throws in
            #expect(guest.primitiveValue(forKey: "name") as? String == "Ada" && guest.name == "Ada" && guest.calls.isEmpty)
            _ = guest.value(forKey: "name")
            #expect(guest.calls == ["greeted"])
            guest.calls = []
            guest.setPrimitiveValue("ida", forKey: "name")
            guest.setPrimitiveValue([guest], forKey: "friends")
            #expect(guest.primitiveValue(forKey: "friends") as? Set<Guest> == [guest] && guest.name == "ida" && guest.calls.isEmpty)
            #expect(guest.changedValues()["name"] as? String == "ida")
        }
    }

    // L26
    @Test func aPropertyOutsideOfTheModelIsReadAndSetByItsKey() throws {
        try withGuest { (stack, context, guest) throws in
            #expect(guest.value(forKey: "fullName") as? String == "Ada of nowhere")
            #expect(guest.value(forKey: "initial") as? Character == "A")
            try context.save()
            guest.setValue("bad", forKey: "mood")
            #expect(guest.mood == "bad" && guest.value(forKey: "mood") as? String == "bad" && !guest.hasChanges)
        }
    }

    // L26
    @Test func predicatesAndSortDescriptorsOnObjectsGoThroughIt() throws {
        try withGuest { (stack, context, guest) throws in
            let other = Guest(context: context)
            other.name = "Bea"
            other.host = guest
            #expect(NSPredicate(format: "name == 'Dear Ada' AND fullName BEGINSWITH 'Ada of'").evaluate(with: guest))
            #expect(NSPredicate(format: "host.fullName == 'Ada of nowhere' AND age == 18").evaluate(with: other))
            let sorted = NSArray(array: [guest, other]).sortedArray(using: [NSSortDescriptor(key: "fullName", ascending: false)])
            #expect(sorted as? [Guest] == [other, guest])
            // What a store answers is what is stored.
            try context.save()
            #expect(try context.all("Guest", "name == 'Ada'").count == 1 && context.all("Guest", "name == 'Dear Ada'").isEmpty)
        }
    }

    // L26
    @Test func numbersAndObjectsOfRelationshipsAreHandedOverAsTheRowsAre() throws {
        try withGuest { (stack, context, guest) throws in
            let one = Guest(context: context), two = Guest(context: context)
            guest.setValue(30, forKey: "age")
            guest.setValue(NSNumber(value: 31), forKey: "age")
            #expect(guest.age == 32 && guest.value(forKey: "age") as? Int == 32 && guest.value(forKey: "age") is NSNumber)
            guest.setValue(NSOrderedSet(array: [one, two]), forKey: "seats")
            #expect(guest.seats == [one, two] && guest.value(forKey: "seats") as? NSOrderedSet == NSOrderedSet(array: [two, one]))
            guest.setValue([one, two], forKey: "friends")
            #expect(guest.friends == [one, two] && guest.value(forKey: "friends") as? Set<NSManagedObject> == [one, two])
            guest.setValue(nil, forKey: "friends")
            #expect(guest.friends.isEmpty && guest.calls == ["company", "company"])
            guest.setValue(one, forKey: "host")
            #expect(guest.host == one && guest.value(forKey: "host") as? Guest == one)
        }
    }

    // L26
    @Test func aKeyOfTheModelWhoseAccessorOnlyReadsIsSetInTheRow() throws {
        try withGuest { (_, _, guest) throws in
            guest.setValue(2, forKey: "size")
            #expect(guest.size == 2 && guest.value(forKey: "size") as? String == "2.0!")
        }
    }

    // L26
    @Test func aSubclassInheritsAccessorsAndItsOwnCount() throws {
        try withGuest("GuestOfHonour") { (_, context, guest) throws in
            #expect(guest.value(forKey: "fullName") as? String == "H. M. Ada" && guest.value(forKey: "title") as? String == "the court")
            #expect(guest.value(forKey: "name") as? String == "Dear Ada")
            let plain = Guest(context: context)
            plain.name = "Bea"
            #expect(plain.value(forKey: "fullName") as? String == "Bea of nowhere")
        }
    }

    // L26
    @Test func anObjectOfAnotherClassThanItsEntitysUsesItsOwnClass() throws {
        try withGuest { (_, context, guest) throws in
            let entity = guest.entity
            _ = guest.value(forKey: "name")
            let honoured = GuestOfHonour(entity: entity, insertInto: context)
            honoured.name = "Bea"
            #expect(honoured.value(forKey: "fullName") as? String == "H. M. Bea")
            let plain = NSManagedObject(entity: entity, insertInto: context)
            plain.setValue("cleo", forKey: "name")
            #expect(plain.value(forKey: "name") as? String == "cleo")
        }
    }

    // L26
    @Test func aClassThatRegistersNothingReadsItsRow() throws {
        let stack = TestStack(Self.model())
        stack.root.performAndWait {
            let stranger = Stranger(context: stack.root)
            stranger.setValue("x", forKey: "name")
            #expect(stranger.value(forKey: "name") as? String == "x" && stranger.name == "x")
        }
    }

    // L26, E2
    @Test func aValueThatTheAccessorCannotTakeStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(KeyedAccessorTests.model())
            stack.root.performAndWait { Guest(context: stack.root).setValue(70_000, forKey: "age") }
        }.trap(says: "unacceptable type of value for Guest.age")
    }

    // L26, E2
    @Test func settingAPropertyOutsideOfTheModelThatOnlyReadsStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(KeyedAccessorTests.model())
            stack.root.performAndWait { Guest(context: stack.root).setValue("x", forKey: "fullName") }
        }.trap(says: "Guest.fullName can't be set")
    }

    // L26
    @Test func anAccessorOfAClassThatIsNotInheritedStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(KeyedAccessorTests.model())
            stack.root.performAndWait { _ = Impostor(context: stack.root).value(forKey: "name") }
        }.trap(says: "keyedAccessors of Impostor names for the key \"name\"")
    }

    private func withApplicant(_ entity: String = "Applicant", _ body: (TestStack, NSManagedObjectContext, Applicant) throws -> Void) throws {
        let stack = TestStack(Self.model())
        try stack.root.performAndWait { () throws in try body(stack, stack.root, #require(stack.root.make(entity) as? Applicant)) }
    }

    // L30
    @Test func aRegisteredMethodMayReplaceTheValueOfItsKey() throws {
        try withApplicant { (stack, context, applicant) throws in
            applicant.name = " Ada "
            applicant.age = 13
            try context.save()
            #expect(applicant.name == "Ada" && applicant.age == 12 && !context.hasChanges)
            #expect(try stack.stored("Applicant", "name") == ["Ada"] && stack.stored("Applicant", "age") == [Int64(12)])
        }
    }

    // L30
    @Test func theRulesOfTheModelComeBeforeARegisteredMethod() throws {
        try withApplicant { (_, context, applicant) throws in
            applicant.name = "          Ada"
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == CocoaError.Code.validationStringTooLong.rawValue && applicant.name == "          Ada")
        }
    }

    // L30
    @Test func whatARegisteredMethodThrowsIsTheErrorOfTheSave() throws {
        try withApplicant { (_, context, applicant) throws in
            applicant.name = "nobody"
            #expect((#expect(throws: NSError.self) { try context.save() })?.code == 7)
            applicant.age = 100
            let several = #expect(throws: NSError.self) { try context.save() }
            #expect(several?.code == CocoaError.Code.validationMultipleErrors.rawValue)
        }
    }

    // L30
    @Test func aRegisteredMethodChecksAValueThatWasNotSetYet() throws {
        try withApplicant { (_, _, applicant) throws in
            var value: AnyObject? = " Eve " as NSString
            try applicant.validateValue(&value, forKey: "name")
            #expect(value as? String == "Eve" && applicant.name == nil)
            value = 13 as NSNumber
            try applicant.validateValue(&value, forKey: "age")
            #expect(value as? Int == 12)
            value = nil
            try applicant.validateValue(&value, forKey: "name")
            #expect(value == nil)
        }
    }

    // L30
    @Test func aSubclassInheritsMethodsAndItsOwnCount() throws {
        try withApplicant("YoungApplicant") { (_, context, applicant) throws in
            applicant.name = " Ada "
            applicant.age = 13
            try context.save()
            #expect(applicant.name == "Ada" && applicant.age == 13)
            applicant.age = 14
            #expect((#expect(throws: NSError.self) { try context.save() })?.code == 14)
        }
    }
}
