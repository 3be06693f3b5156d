import Foundation
import OpenCoreData
import Testing

/// Files that make no sense as a model: each is told with file and line, and none stops the program.
@Suite struct ModelComplaintTests {
    // A3
    @Test(arguments: [
        ("<entity name=\"A\"/>\n<entity name=\"A\"/>", 4, "two entities are named A"),
        ("<entity name=\"A\" parentEntity=\"B\"/>", 3, "the entity A names the entity B, which the model does not have; choose one of A"),
        ("<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>", 3, "A is its own ancestor: A, B, A"),
        ("<entity name=\"A\" parentEntity=\"A\"/>", 3, "A is its own ancestor: A, A"),
        ("<entity name=\"A\">\n<attribute name=\"x\"/></entity>", 4, "attribute A.x has no type"),
        (
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/>\n<attribute name=\"x\" attributeType=\"String\"/></entity>", 5,
            "two properties named x"
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/></entity>\n<entity name=\"B\" parentEntity=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/></entity>",
            5, "B has two properties named x"
        ),
        ("<entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"B\"/></entity>", 4, "the relationship A.r names the entity B"),
        (
            "<entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"A\" inverseName=\"s\" inverseEntity=\"A\"/></entity>", 4,
            "the inverse of A.r, s, is no relationship of A"
        ),
        (
            "<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" inverseName=\"s\" inverseEntity=\"C\"/></entity>", 3,
            "the inverse of A.r names the entity C"
        ),
        (
            "<entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"B\" inverseName=\"s\" inverseEntity=\"C\"/></entity>\n<entity name=\"B\"/>\n<entity name=\"C\"><relationship name=\"s\" destinationEntity=\"A\" inverseName=\"r\" inverseEntity=\"A\"/></entity>",
            4, "the inverse of A.r does not belong to B"
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"40000\"/></entity>", 3,
            "A.x has the default value \"40000\"; a whole number that the type Integer 16 can hold"
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Integer 64\" defaultValueString=\"1.5\"/></entity>", 3,
            "A.x has the default value \"1.5\""
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Decimal\" defaultValueString=\"12abc\"/></entity>", 3,
            "A.x has the default value \"12abc\"; a number"
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Double\" defaultValueString=\"nan\"/></entity>", 3,
            "A.x has the default value \"nan\""
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Boolean\" defaultValueString=\"maybe\"/></entity>", 3,
            "A.x has the default value \"maybe\"; YES or NO"
        ),
        ("<entity name=\"A\"><attribute name=\"x\" attributeType=\"UUID\" defaultValueString=\"1\"/></entity>", 3, "a UUID"),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Binary\" defaultValueString=\"1\"/></entity>", 3,
            "the type Binary has no default value"
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Integer 16\" minValueString=\"few\"/></entity>", 3,
            "A.x has the minimum \"few\"; a number"
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"a +\"/></entity>", 3,
            "A.x has no derivation"
        ),
        (
            "<entity name=\"A\">\n<uniquenessConstraints><uniquenessConstraint><constraint value=\"x\"/></uniquenessConstraint></uniquenessConstraints></entity>",
            3, "uniqueness constraint of A names \"x\""
        ),
        (
            "<entity name=\"A\">\n<fetchIndex name=\"i\"><fetchIndexElement property=\"x\"/></fetchIndex></entity>", 4,
            "the index i of A names x, which it does not have"
        ),
        (
            "<entity name=\"A\">\n<fetchedProperty name=\"f\"><fetchRequest name=\"r\" entity=\"B\"/></fetchedProperty></entity>", 4,
            "the fetched property A.f names the entity B"
        ),
        (
            "<entity name=\"A\">\n<fetchedProperty name=\"f\"><fetchRequest name=\"r\" entity=\"A\" resultType=\"1\"/></fetchedProperty></entity>", 4,
            "must fetch objects"
        ),
        (
            "<entity name=\"A\"/>\n<fetchRequest name=\"r\" entity=\"A\" predicateString=\"x &gt;\"/>", 4,
            "the fetch request r has no predicate: predicate format, character"
        ),
        (
            "<entity name=\"A\"/>\n<fetchRequest name=\"r\" entity=\"A\"/>\n<fetchRequest name=\"r\" entity=\"A\"/>", 5,
            "two fetch requests are named r"
        ),
        ("<entity name=\"A\"/>\n<fetchRequest name=\"r\" entity=\"B\"/>", 4, "the fetch request r names the entity B"),
        ("<entity name=\"A\"/>\n<configuration name=\"c\"><memberEntity name=\"B\"/></configuration>", 4, "the configuration c names the entity B"),
    ])
    func whatMakesNoSenseIsToldWithItsLine(_ elements: String, _ line: Int, _ words: String) throws {
        let folder = ModelFolder(), package = try folder.add(elements)
        do throws(ModelFileError) {
            _ = try NSManagedObjectModel(readingContentsOf: package)
            Issue.record("it was read: \(elements)")
        } catch {
            #expect(error.line == line && error.description.contains(words), "\(error)")
            #expect(error.path.hasSuffix("Model.xcdatamodeld/Model.xcdatamodel/contents"))
        }
    }
}
