import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// The file of an XML store, which Core Data's own reads and writes.
@Suite struct XMLStoreTests {
    private static func model() -> NSManagedObjectModel {
        let department = StoreModels.entity("Department", [StoreModels.attribute("name", .string)])
        let employee = StoreModels.entity(
            "Employee",
            [
                StoreModels.attribute("fullName", .string), StoreModels.attribute("salary", .integer32), StoreModels.attribute("hireDate", .date),
                StoreModels.attribute("photo", .binaryData),
            ])
        StoreModels.relate(department, "employees", toMany: true, employee, "department", inverseToMany: false)
        return NSManagedObjectModel(entities: [department, employee])
    }

    private static func file(_ objects: String, metadata: String = "") -> String {
        """
        <?xml version="1.0"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

        <database>
            <databaseInfo>
                <version>134481920</version>
                <UUID>7DFA6DAB-A071-4B34-8DFB-BAC65DD66FDE</UUID>
                <nextObjectID>105</nextObjectID>
                <metadata>\(metadata)</metadata>
            </databaseInfo>
        \(objects)
        </database>

        """
    }

    private static let objects = """
            <object type="DEPARTMENT" id="z104">
                <attribute name="name" type="string">R&amp;D</attribute>
                <relationship name="employees" type="0/0" destination="EMPLOYEE" idrefs="z102"></relationship>
            </object>
            <object type="EMPLOYEE" id="z102">
                <attribute name="fullname" type="string">Alice</attribute>
                <attribute name="salary" type="int32">100</attribute>
                <attribute name="hiredate" type="date">445103622.25000000000000000000</attribute>
                <attribute name="photo" type="binary">AAEC
        </attribute>
                <relationship name="department" type="1/1" destination="DEPARTMENT" idrefs="z104"></relationship>
            </object>
            <object type="EMPLOYEE" id="z103">
                <attribute name="fullname" type="string">Bob</attribute>
                <relationship name="department" type="1/1" destination="DEPARTMENT"></relationship>
            </object>
        """

    private static let ignoring = [NSIgnorePersistentStoreVersioningOption: true]

    private func world(_ text: String) throws -> AtomicWorld {
        let world = try AtomicWorld(NSXMLStoreType, Self.model())
        try Data(text.utf8).write(to: world.file)
        return world
    }

    // S1
    @Test func aFileThatCoreDataWroteIsReadAndWrittenBack() throws {
        let world = try world(Self.file(Self.objects)), context = try world.open(options: Self.ignoring)
        #expect(try context.onlyStore.identifier == "7DFA6DAB-A071-4B34-8DFB-BAC65DD66FDE")
        try context.saving { context in
            let people = try context.all("Employee").sorted { $0.objectID.key < $1.objectID.key }
            #expect(people.map { $0.value(forKey: "fullName") as? String } == ["Alice", "Bob"])
            #expect(people[0].value(forKey: "hireDate") as? Date == Date(timeIntervalSinceReferenceDate: 445_103_622.25))
            #expect(people[0].value(forKey: "photo") as? Data == Data([0, 1, 2]) && people[0].value(forKey: "salary") as? Int == 100)
            let department = try #require(people[0].value(forKey: "department") as? NSManagedObject)
            #expect(department.value(forKey: "name") as? String == "R&D" && people[1].value(forKey: "department") == nil)
            people[1].setValue(department, forKey: "department")
            context.make("Employee", ["fullName": "Cleo"])
        }
        let text = try world.text
        #expect(text.contains("<relationship name=\"employees\" type=\"0/0\" destination=\"EMPLOYEE\" idrefs=\"z102 z103\"></relationship>"))
        #expect(text.contains("<attribute name=\"name\" type=\"string\">R&amp;D</attribute>"))
        #expect(text.contains("<object type=\"EMPLOYEE\" id=\"z106\">") && !text.contains("<nextObjectID>105</nextObjectID>"))
        #expect(text.contains("<attribute name=\"photo\" type=\"binary\">AAEC\n</attribute>") && text.contains("<version>134481920</version>"))
        #expect(text.contains("<attribute name=\"salary\" type=\"int32\">100</attribute>"))
        #expect(text.hasPrefix("<?xml version=\"1.0\" standalone=\"yes\"?>\n<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">"))
    }

    // S1
    @Test func aModelThatTheFileCannotTellApartIsRefused() throws {
        let two = NSManagedObjectModel(entities: [StoreModels.entity("Item"), StoreModels.entity("ITEM")])
        let entities = told { _ = try AtomicWorld(NSXMLStoreType, two).open() }
        #expect(entities.code == 134020 && entities.sentence.contains("the entities ITEM and Item") || entities.sentence.contains("Item and ITEM"))
        let names = NSManagedObjectModel(entities: [
            StoreModels.entity("Item", [StoreModels.attribute("url", .string), StoreModels.attribute("URL", .string)])
        ])
        #expect(told { _ = try AtomicWorld(NSXMLStoreType, names).open() }.code == 134020)
        #expect(told { _ = try AtomicWorld(NSBinaryStoreType, names).open() }.code == 0)
    }

    /// What a hand may do to a file: each is refused with the place and the reason, and nothing is lost.
    // S1
    @Test(arguments: [
        ("type=\"DEPARTMENT\" id", "type=\"OFFICE\" id", "line 11", "OFFICE, which the model"),
        ("\"fullname\" type=\"string\">Alice", "\"nickname\" type=\"string\">Alice", "line 15", "EMPLOYEE.nickname, which the model"),
        ("name=\"department\" type=\"1/1\" destination=\"DEPARTMENT\" idrefs", "name=\"office\" type=\"1/1\" idrefs", "line 15", "EMPLOYEE.office"),
        ("idrefs=\"z102\"", "idrefs=\"z109\"", "line 11", "z109, which is not there"),
        ("idrefs=\"z102\"", "idrefs=\"z104\"", "line 11", "an object of Department"),
        ("idrefs=\"z102\"", "idrefs=\"z102 z103\"", "line 11", "says of DEPARTMENT.employees of z104 something else"),
        ("idrefs=\"z104\"", "", "line 11", "says of DEPARTMENT.employees of z104 something else"),
        (">100<", ">a hundred<", "line 15", "EMPLOYEE.salary that is none of its type"), ("AAEC\n", "A", "", "not in Base64"),
        ("id=\"z103\"", "id=\"z102\"", "line 23", "two objects with the ID z102"),
        ("id=\"z103\"", "id=\"103\"", "line 23", "without a type or an ID"),
        ("idrefs=\"z104\"", "idrefs=\"z104 z104\"", "line 15", "2 objects in the to-one"), ("134481920", "1", "", "has the format 1"),
        ("</object>", "<note/></object>", "line 14", "a note without a name"), (">105<", ">many<", "", "nextObjectID that is no number"),
        ("</database>", "", "", "it ends too early"),
        ("idrefs=\"z102\"", "idrefs=\"z102 z102\"", "line 11", "an object twice in DEPARTMENT.employees"),
        ("<attribute name=\"salary\"", "<attribute name=\"fullname\"", "line 15", "a property of EMPLOYEE twice"),
    ])
    func whatAHandHasBrokenIsSaidWithItsPlace(from: String, to: String, line: String, words: String) throws {
        let text = Self.file(Self.objects)
        let broken = try #require(text.range(of: from)).lowerBound
        let world = try world(text.replacingCharacters(in: broken..<text.index(broken, offsetBy: from.count), with: to)), before = try world.text
        let refused = told { _ = try world.open(options: Self.ignoring) }
        #expect(
            [134080, 134020].contains(refused.code) && (line.isEmpty || refused.sentence.contains(line)) && refused.sentence.contains(words),
            "\(refused)")
        #expect(try world.text == before)
    }

    // S1
    @Test func noEntityOfADocumentTypeLeadsToAnotherFile() throws {
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
        try Data("secret".utf8).write(to: secret)
        defer { try? FileManager.default.removeItem(at: secret) }
        let text = Self.file(Self.objects.replacingOccurrences(of: "Alice", with: "&other;")).replacingOccurrences(
            of: "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">",
            with: "<!DOCTYPE database [<!ENTITY other SYSTEM \"\(secret.absoluteString)\">]>")
        let world = try world(text)
        guard let context = try? world.open(options: Self.ignoring) else { return }
        try context.performAndWait { () throws in
            for person in try context.all("Employee") { #expect((person.value(forKey: "fullName") as? String)?.contains("secret") != true) }
        }
    }

    // G1
    @Test func aFileWithoutAModelIsNotMigrated() throws {
        let world = try world(Self.file(Self.objects)), before = try world.text
        let other = told { _ = try world.open() }
        #expect(other.code == 134100 && other.sentence.contains("another version of the model"))
        let unknown = told {
            _ = try world.open(options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        }
        #expect(unknown.code == 134130 && unknown.sentence.contains("does not say which model"))
        #expect(try world.text == before)
    }
}
