import Foundation
import Testing

@testable import ManagedClasses

/// Classes out of a model, as Xcode writes them.
@Suite struct ClassWriterTests {
    private static let model = """
        <entity name="Animal" representedClassName="Animal" isAbstract="YES" codeGenerationType="class">
            <attribute name="id" optional="YES" attributeType="UUID"/>
        </entity>
        <entity name="Dog" representedClassName=".Dog" parentEntity="Animal" codeGenerationType="class">
            <attribute name="age" attributeType="Integer 16" usesScalarValueType="YES"/>
            <attribute name="legs" attributeType="Integer 16" usesScalarValueType="NO"/>
            <attribute name="born" attributeType="Date" usesScalarValueType="YES"/>
            <attribute name="price" attributeType="Decimal"/>
            <attribute name="class" attributeType="String"/>
            <attribute name="photo" attributeType="Binary"/>
            <attribute name="colour" attributeType="Transformable" customClassName="Colour"/>
            <attribute name="any" attributeType="Transformable"/>
            <relationship name="owner" maxCount="1" destinationEntity="Owner"/>
            <relationship name="toys" toMany="YES" ordered="YES" destinationEntity="Toy"/>
            <relationship name="friends" toMany="YES" destinationEntity="Dog"/>
            <fetchedProperty name="elders" optional="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Dog" predicateString="age &gt; $FETCH_SOURCE.age"/>
            </fetchedProperty>
            <fetchedProperty name="owners" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="Owner"/></fetchedProperty>
        </entity>
        <entity name="Owner" representedClassName="Owner" codeGenerationType="category"><attribute name="name" attributeType="String"/></entity>
        <entity name="Toy"/>
        """

    private func text(_ sources: [String: String] = ["Owner.swift": "import CoreData\nclass Owner: NSManagedObject {}\n"]) throws -> String {
        try ClassesFixture(sources, model: Self.model).generated().get()
    }

    @Test func attributesHaveTheTypesThatXcodeGivesThem() throws {
        let text = try text()
        for declaration in [
            "public var id: UUID?", "public var age: Int16 {", "public var legs: NSNumber?", "public var born: TimeInterval {",
            "public var price: NSDecimalNumber?", "public var `class`: String?", "public var photo: Data?", "public var colour: Colour?",
            "public var any: NSObject?", "    var owner: Owner?", "public var toys: NSOrderedSet?", "public var friends: NSSet?",
        ] {
            #expect(text.contains(declaration), "\(declaration)")
        }
    }

    @Test func classesInheritFromTheClassesOfTheirParents() throws {
        let text = try text()
        #expect(text.contains("public class Animal: NSManagedObject {}") && text.contains("public class Dog: Animal {}"))
        #expect(!text.contains("class Owner:") && text.contains("extension Owner {\n    class func fetchRequest() -> NSFetchRequest<Owner>"))
        #expect(!text.contains("extension Toy"))
    }

    @Test func onlyRootsBecomeIdentifiableUnlessSomebodySaidSo() throws {
        #expect(try text().contains("extension Animal: Identifiable {}") && text().contains("extension Owner: Identifiable {}"))
        #expect(try !text().contains("extension Dog: Identifiable"))
        let said = ["Owner.swift": "class Owner: NSManagedObject {}\nextension Owner: Named, Identifiable {}\n"]
        #expect(try !text(said).contains("extension Owner: Identifiable"))
    }

    @Test func toManysHaveTheAccessorsThatXcodeGivesThem() throws {
        let text = try text()
        for declaration in [
            "insertIntoToys(_ value: NSManagedObject, at idx: Int)", "removeFromToys(at idx: Int)",
            "insertIntoToys(_ values: [NSManagedObject], at indexes: NSIndexSet)", "removeFromToys(at indexes: NSIndexSet)",
            "replaceToys(at idx: Int, with value: NSManagedObject)", "replaceToys(at indexes: NSIndexSet, with values: [NSManagedObject])",
            "addToToys(_ value: NSManagedObject)", "removeFromToys(_ value: NSManagedObject)", "addToToys(_ values: NSOrderedSet)",
            "removeFromToys(_ values: NSOrderedSet)", "addToFriends(_ value: Dog)", "removeFromFriends(_ value: Dog)",
            "addToFriends(_ values: NSSet)", "removeFromFriends(_ values: NSSet)",
        ] {
            #expect(text.contains("public func \(declaration) {"), "\(declaration)")
        }
        #expect(!text.contains("insertIntoFriends"))
    }

    @Test func fetchedPropertiesAreReadAsArraysAndAsVisibleAsWhatTheyFind() throws {
        let text = try text()
        #expect(text.contains("    public var elders: [Dog]? { value(forKey: \"elders\") as? [Dog] }\n"))
        #expect(text.contains("    var owners: [Owner]? { value(forKey: \"owners\") as? [Owner] }\n"))
        #expect(!text.contains("public var owners"))
    }

    @Test func aClassOfTheDevelopersMustBeThere() throws {
        let fixture = try ClassesFixture(["A.swift": "import CoreData\n"], model: Self.model)
        #expect(fixture.complaints.count == 1)
        #expect(fixture.complaints.first?.hasPrefix("contents:21: the entity Owner asks for an extension of the class Owner, which App") == true)
    }

    @Test func anEntityWithoutAClassOfTheModuleAsksForNone() throws {
        let model = """
            <entity name="A" codeGenerationType="class"/>
            <entity name="B" representedClassName="Other.B" codeGenerationType="class"/>
            """
        #expect(try ClassesFixture([:], model: model).complaints.count == 2)
    }

    @Test func aModelThatCantBeReadSaysWhere() throws {
        #expect(try ClassesFixture([:], model: "\n<entity/>").complaints.first?.hasPrefix("contents:2: ") == true)
    }

    @Test func twoModelsThatAskForOneClassAreRefused() throws {
        let entity = "<entity name=\"%\" representedClassName=\"Thing\" codeGenerationType=\"class\"/>"
        let fixture = try ClassesFixture([:], models: ["Shop": entity.replacing("%", with: "A"), "Store": entity.replacing("%", with: "B")])
        #expect(
            fixture.complaints == [
                "contents:1: the entity B of the model Store and the entity A of the model Shop both ask for the class Thing; give one of them another "
                    + "class, or choose Manual/None as the codegen of one"
            ])
    }

    @Test func aModuleWhoseClassesAreNamedIsImported() throws {
        let model = """
            <entity name="A" representedClassName="A" codeGenerationType="class">
                <relationship name="b" maxCount="1" destinationEntity="B"/>
            </entity>
            <entity name="B" representedClassName="Other.B"/>
            <entity name="C" representedClassName="C" parentEntity="D" codeGenerationType="class"/>
            <entity name="D" representedClassName="Far.D"/>
            """
        let text = try ClassesFixture([:], model: model).generated().get()
        #expect(text.contains("import CoreData\n") && text.contains("import Far\n") && text.contains("import Other\n"))
        #expect(text.contains("var b: Other.B?") && text.contains("class C: Far.D {}"))
    }

    @Test func entitiesOfAModelMayHaveOneClassIfItHasAllThatTheyHave() throws {
        func complaints(_ attribute: String) throws -> [String] {
            let model = """
                <entity name="A" representedClassName="T" codeGenerationType="class"><attribute name="a" attributeType="String"/></entity>
                <entity name="B" representedClassName="T" codeGenerationType="class"><attribute name="\(attribute)" attributeType="String"/></entity>
                """
            return try ClassesFixture([:], model: model).complaints
        }
        #expect(try complaints("a").isEmpty)
        #expect(try complaints("b").first?.hasPrefix("contents:2: the entity B asks for the class T as A does, which has no b; ") == true)
    }

    @Test func aClassThatSomebodyWroteIsNotWrittenAgain() throws {
        let model = "<entity name=\"A\" representedClassName=\"A\" codeGenerationType=\"class\"/>"
        let complaint = try ClassesFixture(["A.swift": "import CoreData\nclass A: NSManagedObject {}\n"], model: model).complaints.first
        #expect(complaint?.contains("A.swift declares; choose Manual/None or Category/Extension as its codegen") == true)
    }

    @Test(arguments: [
        "class Owner: NSManagedObject, Identifiable {}", "class Owner: NSManagedObject {}\nextension Owner: Swift.Identifiable {}",
        "protocol One: Identifiable {}\nclass Owner: NSManagedObject, One {}", "class Base: NSManagedObject, Identifiable {}\nclass Owner: Base {}",
        "class Base: NSManagedObject {}\nextension Base: One {}\nprotocol One: Two {}\nprotocol Two: Identifiable {}\nclass Owner: Base {}",
        "typealias Both = Sendable & Identifiable\nclass Owner: NSManagedObject, Both {}", "class Owner: Animal {}", "class Owner: Far {}",
        "class Owner: Shared.Far {}", "class Middle: Dog {}\nclass Owner: Middle {}", "class Owner: NSManagedObject, @MainActor Identifiable {}",
    ])
    func whatIsIdentifiableAlreadyIsNotMadeSoAgain(source: String) throws {
        let fixture = try ClassesFixture(
            ["Owner.swift": "import CoreData\nimport Shared\n\(source)\n"], model: Self.model,
            modules: ["Shared": "import CoreData\nopen class Far: NSManagedObject {}\nextension Far: Identifiable {}\n"])
        #expect(try !fixture.generated().get().contains("extension Owner: Identifiable"))
    }

    @Test func whatIsIdentifiableInSomeBuildsIsMadeSoInTheOthers() throws {
        let source = "import CoreData\nclass Owner: NSManagedObject {}\n#if DEBUG\nextension Owner: Identifiable {}\n#endif\n"
        #expect(try text(["Owner.swift": source]).contains("#if !(((DEBUG)))\nextension Owner: Identifiable {}\n#endif\n"))
    }

    @Test func whatIsGeneratedDependsOnNothingElse() throws {
        #expect(try text() == text())
    }
}
