import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Written as for Apple's platforms: names are trimmed, "nobody" is refused, and every key that was asked about is noted.
final class CheckedObject: NSManagedObject {
    @Managed var name: String?
    @Managed var age: Int32
    var keys: [String] = []
    var refusal: NSError?

    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        keys.append(key)
        if key == "name", let name = value.pointee as? String {
            if let refusal, name == "nobody" { throw refusal }
            let trimmed = name.trimmingCharacters(in: .whitespaces)
            if trimmed != name { value.pointee = trimmed as NSString }
        }
        try super.validateValue(value, forKey: key)
    }
}

/// Has a long name for a short one.
final class WordyObject: NSManagedObject {
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        if value.pointee as? String == "short" {
            value.pointee = "a name that is too long" as NSString
        } else {
            try super.validateValue(value, forKey: key)
        }
    }
}

/// Never content with its name.
final class RestlessObject: NSManagedObject {
    @Managed var name: String?

    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        value.pointee = ((value.pointee as? String ?? "") + "x") as NSString
    }
}

@Suite struct ValueValidationTests {
    private static func model() -> NSManagedObjectModel {
        let checked = Company.entity("Checked", CheckedObject.self), note = Company.entity("Note")
        let age = Company.attribute("age", .integer32, default: 18), name = Company.attribute("name", .string, optional: false)
        age.maximumValue = 99
        name.maximumValue = 8
        checked.properties = [name, age]
        note.properties = [Company.attribute("text", .string)]
        Company.relate(checked, "notes", many: true, note, "about", many: false)
        return NSManagedObjectModel(entities: [checked, note])
    }

    private func withObject(_ body: (TestStack, NSManagedObjectContext, CheckedObject) throws -> Void) throws {
        let stack = TestStack(Self.model())
        try stack.root.performAndWait { () throws in
            let object = CheckedObject(context: stack.root)
            object.name = "Ada"
            try body(stack, stack.root, object)
        }
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as NSError).code
        }
    }

    // L30, L27
    @Test func everyPropertyIsAskedAboutOnInsertAndOnUpdate() throws {
        try withObject { (_, context, object) throws in
            try context.save()
            #expect(object.keys.sorted() == ["age", "name", "notes"])
            object.keys = []
            object.age = 20
            try context.save()
            #expect(object.keys.sorted() == ["age", "name", "notes"])
            object.keys = []
            context.delete(object)
            try context.save()
            #expect(object.keys.isEmpty)
        }
    }

    // L30
    @Test func validationMayReplaceTheValueThatIsSaved() throws {
        try withObject { (stack, context, object) throws in
            object.name = "  Ida "
            try context.save()
            #expect(object.name == "Ida" && !object.hasChanges && !context.hasChanges)
            #expect(try stack.stored("Checked", "name") == ["Ida"])
        }
    }

    // L30
    @Test func theRulesOfTheModelJudgeTheReplacement() throws {
        try withObject { (stack, context, object) throws in
            object.name = "         Ida"
            try context.save()
            #expect(try stack.stored("Checked", "name") == ["Ida"])
            object.name = "         a longer name"
            #expect(code { try context.save() } == CocoaError.Code.validationStringTooLong.rawValue)
            #expect(object.name == "         a longer name")
        }
    }

    // L30
    @Test func aReplacementIsJudgedAlsoWhereAToManyIsReadAfterIt() throws {
        let wordy = Company.entity("Wordy", WordyObject.self), note = Company.entity("Note")
        let name = Company.attribute("name", .string)
        name.maximumValue = 8
        wordy.properties = [name]
        Company.relate(wordy, "notes", many: true, note, "about", many: false)
        wordy.relationshipsByName["notes"]?.maxCount = 2
        let stack = TestStack(NSManagedObjectModel(entities: [wordy, note]))
        try stack.root.performAndWait { () throws in
            let id = stack.root.make("Wordy", ["name": "first"]).objectID
            try stack.root.save()
            stack.root.reset()
            stack.root.object(with: id).setValue("short", forKey: "name")
            #expect(code { try stack.root.save() } == CocoaError.Code.validationStringTooLong.rawValue)
            #expect(try stack.stored("Wordy", "name") == ["first"])
        }
    }

    // L27, L28
    @Test func severalErrorsAreToldInTheSameWordsWhetherOfOneObjectOrOfSeveral() throws {
        try withObject { (_, context, object) throws in
            object.name = nil
            object.age = 100
            let ofOne = #expect(throws: NSError.self) { try object.validateForInsert() }
            #expect(ofOne?.localizedDescription.hasPrefix("2 validation errors: Checked.") == true)
            object.age = 18
            _ = CheckedObject(context: context)
            let ofSeveral = #expect(throws: NSError.self) { try context.save() }
            #expect(ofSeveral?.localizedDescription.hasPrefix("2 validation errors: Checked.name is required") == true)
        }
    }

    // L30, L27, L28
    @Test func whatAnOverrideThrowsIsTheErrorOfTheSave() throws {
        try withObject { (_, context, object) throws in
            object.refusal = NSError(domain: "test", code: 7)
            object.name = "nobody"
            #expect(code { try context.save() } == 7)
            object.age = 100
            do {
                try object.validateForInsert()
                Issue.record("validated")
            } catch let error as NSError {
                #expect(error.code == CocoaError.Code.validationMultipleErrors.rawValue)
                let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
                #expect(Set(details.map(\.code)) == [7, CocoaError.Code.validationNumberTooLarge.rawValue])
            }
        }
    }

    // L30
    @Test func aValueThatWasNotSetYetCanBeChecked() throws {
        try withObject { (_, _, object) throws in
            var value: AnyObject? = "  Ida " as NSString
            try object.validateValue(&value, forKey: "name")
            #expect(value as? String == "Ida" && object.name == "Ada")
            value = nil
            #expect(code { try object.validateValue(&value, forKey: "name") } == CocoaError.Code.validationMissingMandatoryProperty.rawValue)
            value = 100 as NSNumber
            #expect(code { try object.validateValue(&value, forKey: "age") } == CocoaError.Code.validationNumberTooLarge.rawValue)
            value = "many" as NSString
            #expect(code { try object.validateValue(&value, forKey: "age") } == CocoaError.Code.managedObjectValidation.rawValue)
        }
    }

    // L30
    @Test func plainObjectsAndRelationshipsAreCheckedToo() throws {
        try withObject { (_, context, object) throws in
            let note = context.make("Note", ["about": object])
            var owner: AnyObject? = object, notes: AnyObject? = NSSet(object: note), number: AnyObject? = 5 as NSNumber
            try note.validateValue(&owner, forKey: "about")
            try object.validateValue(&notes, forKey: "notes")
            #expect(code { try note.validateValue(&number, forKey: "about") } == CocoaError.Code.managedObjectValidation.rawValue)
        }
    }

    // L30
    @Test func validationThatNeverSettlesIsAnError() throws {
        let entity = Company.entity("Restless", RestlessObject.self)
        entity.properties = [Company.attribute("name", .string)]
        let stack = TestStack(NSManagedObjectModel(entities: [entity]))
        try stack.root.performAndWait { () throws in
            _ = RestlessObject(context: stack.root)
            #expect(code { try stack.root.save() } == CocoaError.Code.coreData.rawValue)
            #expect(try stack.stored("Restless", "name").isEmpty && stack.root.hasChanges)
        }
    }
}
