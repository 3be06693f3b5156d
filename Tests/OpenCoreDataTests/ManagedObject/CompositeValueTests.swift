import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

final class ComposedQuake: NSManagedObject {
    @Managed var code: String?
    @Managed var magnitude: [String: Any]?
}

/// Composite attributes of objects.
// A9
@Suite struct CompositeValueTests {
    private let fixture: MigrationFixture

    init() throws { fixture = try MigrationFixture() }

    // MARK: Objects

    @Test func aValueIsADictionaryOfTheElementsThatHaveOne() throws {
        try fixture.open([Quakes.entity()]) { context in
            let quake = context.make("Quake", ["code": "a"])[0]
            #expect(quake.value(forKey: "magnitude") as? [String: String] == ["scale": "ML"])
            quake.setValue(["richter": 5.5, "felt": ["reports": 7]], forKey: "magnitude")
            let value = try #require(quake.value(forKey: "magnitude") as? [String: Any])
            #expect(value.keys.sorted() == ["felt", "richter"] && value["richter"] as? Double == 5.5)
            #expect((value["felt"] as? [String: Any])?["reports"] as? Int == 7)
            #expect(quake.value(forKeyPath: "magnitude.felt.reports") as? Int == 7)
            quake.setValue(nil, forKey: "magnitude")
            #expect(quake.value(forKey: "magnitude") == nil)
        }
    }

    @Test func anElementIsSetByItsPathAndTheOthersStay() throws {
        try fixture.open(Quakes.entities()) { context in
            let quake = context.quake("a", ["richter": 5.5, "scale": "MW"])
            quake.setValue(6.5, forKeyPath: "magnitude.richter")
            quake.setValue(3, forKeyPath: "magnitude.felt.reports")
            #expect(quake.value(forKeyPath: "magnitude.richter") as? Double == 6.5 && quake.value(forKeyPath: "magnitude.scale") as? String == "MW")
            let region = context.make("Region", ["name": "r"])[0]
            region.setValue(Set([quake]), forKey: "quakes")
            region.setValue("MB", forKeyPath: "quakes.magnitude.scale")
            quake.setPrimitiveValue(["scale": "x"], forKey: "magnitude")
            #expect(quake.primitiveValue(forKey: "magnitude") as? [String: String] == ["scale": "x"])
            quake.setValue("MB", forKeyPath: "magnitude.scale")
            #expect(quake.value(forKeyPath: "region.quakes.magnitude.scale") != nil)
        }
    }

    @Test func aTypedPropertyIsADictionary() throws {
        let entity = Quakes.entity()
        entity.managedObjectClassName = NSStringFromClass(ComposedQuake.self)
        try fixture.open([entity]) { context in
            let quake = ComposedQuake(context: context)
            quake.magnitude = ["richter": 4.0]
            #expect(quake.magnitude?["richter"] as? Double == 4 && quake.magnitude?["scale"] == nil)
            quake.magnitude?["scale"] = "MW"
            #expect(quake.value(forKeyPath: "magnitude.scale") as? String == "MW" && quake.value(forKeyPath: "magnitude.richter") as? Double == 4)
            quake.magnitude = nil
            #expect(quake.magnitude == nil)
            let value: [String: Any]? = quake.managedValue(forProperty: "magnitude")
            #expect(value == nil)
        }
    }

    @Test func whatIsNoValueOfItIsToldAndNothingIsSet() async {
        await #expect(processExitsWith: .success) {
            let told = Told()
            CoreDataMisuse.handle { told.add($0.message) }
            let fixture = try MigrationFixture()
            try fixture.open([Quakes.entity()]) { context in
                let quake = context.make("Quake", ["code": "a"])[0]
                quake.setValue(["richter": 1, "scale": "x"], forKey: "magnitude")
                quake.setValue("much", forKey: "magnitude")
                quake.setValue(["richter": 2, "mercalli": 3], forKey: "magnitude")
                quake.setValue(["scale": "y", "richter": "much"], forKey: "magnitude")
                #expect(quake.value(forKeyPath: "magnitude.richter") as? Double == 1 && quake.value(forKeyPath: "magnitude.scale") as? String == "x")
            }
            let texts = told.all
            #expect(texts.count == 3)
            #expect(texts.first?.contains("its value is a dictionary") == true)
            #expect(texts.dropFirst().first?.contains("magnitude has no element mercalli; it has richter, scale, felt") == true)
            #expect(texts.last?.contains("Quake.magnitude.richter: desired type = Double") == true)
        }
    }

    @Test func changesAreToldByTheNameOfTheWhole() throws {
        try fixture.open([Quakes.entity()]) { context in
            let quake = context.quake("a", ["richter": 5.5, "scale": "MW"])
            try context.save()
            quake.setValue(6.5, forKeyPath: "magnitude.richter")
            let changed = quake.changedValues()
            #expect(changed.keys.sorted() == ["magnitude"] && (changed["magnitude"] as? [String: Any])?["richter"] as? Double == 6.5)
            #expect((changed["magnitude"] as? [String: Any])?["scale"] as? String == "MW")
            let before = quake.committedValues(forKeys: ["magnitude", "code"])
            #expect(before.keys.sorted() == ["code", "magnitude"] && (before["magnitude"] as? [String: Any])?["richter"] as? Double == 5.5)
            #expect((quake.changedValuesForCurrentEvent()["magnitude"] as? [String: Any])?["richter"] as? Double == 5.5)
            quake.setValue(nil, forKey: "magnitude")
            #expect(quake.changedValues()["magnitude"] is NSNull)
            context.rollback()
            #expect(quake.value(forKeyPath: "magnitude.richter") as? Double == 5.5)
        }
    }

    @Test func undoBringsAllElementsBack() throws {
        try fixture.open([Quakes.entity()]) { context in
            context.undoManager = UndoManager()
            let quake = context.quake("a", ["richter": 5.5, "scale": "MW"])
            try context.save()
            context.undoManager?.removeAllActions()
            quake.setValue(["richter": 1.0], forKey: "magnitude")
            context.processPendingChanges()
            context.undo()
            #expect(quake.value(forKeyPath: "magnitude.richter") as? Double == 5.5 && quake.value(forKeyPath: "magnitude.scale") as? String == "MW")
        }
    }

    @Test func anElementOfASubentityIsSetByItsPath() throws {
        let event = NSEntityDescription(), report = NSEntityDescription(), quake = Quakes.entity()
        (event.name, report.name) = ("Event", "Report")
        quake.properties = quake.properties.filter { $0.name == "magnitude" }
        event.properties = [Quakes.attribute("code", .string)]
        event.subentities = [quake]
        let subject = NSRelationshipDescription(), reports = NSRelationshipDescription()
        (subject.name, subject.destinationEntity, subject.maxCount, subject.inverseRelationship) = ("subject", event, 1, reports)
        (reports.name, reports.destinationEntity, reports.maxCount, reports.inverseRelationship) = ("reports", report, 0, subject)
        report.properties = [subject]
        event.properties += [reports]
        try fixture.open([event, quake, report]) { context in
            let made = context.make("Report", [:])[0], found = context.make("Quake", ["magnitude": ["scale": "MW"]])[0]
            made.setValue(found, forKey: "subject")
            made.setValue(6.5, forKeyPath: "subject.magnitude.richter")
            #expect(found.value(forKeyPath: "magnitude.richter") as? Double == 6.5)
            #expect(found.committedValues(forKeys: ["magnitude.richter"]).isEmpty)
            try context.save()
            #expect(found.committedValues(forKeys: ["magnitude.richter"])["magnitude.richter"] as? Double == 6.5)
        }
    }

    @Test func aTypedPropertyThatIsNoDictionaryStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let entity = Quakes.entity()
            entity.managedObjectClassName = NSStringFromClass(MistypedQuake.self)
            try MigrationFixture().open([entity]) { context in MistypedQuake(context: context).magnitude = "much" }
        }.trap(says: "a composite attribute is declared as Optional<String>")
    }

    // MARK: Validation

    @Test func valuesInMemoryOnlyAreNotRequired() throws {
        let magnitude = Quakes.magnitude()
        magnitude.isTransient = true
        try fixture.open([Quakes.entity(magnitude)]) { context in
            _ = context.quake("a", ["richter": 5.5])
            try context.save()
        }
        let other = Quakes.composite("magnitude", [Quakes.attribute("richter", .double), Quakes.attribute("note", .string)], isOptional: false)
        other.elements[1].isTransient = true
        let cache = Quakes.composite("magnitude", [Quakes.attribute("richter", .double)], isOptional: false)
        cache.elements[0].isTransient = true
        try MigrationFixture().open([Quakes.entity(cache)]) { context in
            _ = context.quake("a", nil)
            try context.save()
        }
        let second = try MigrationFixture()
        try second.open([Quakes.entity(other)]) { context in
            let quake = context.quake("a", ["note": "x"])
            #expect(throws: NSError.self) { try context.save() }
            quake.setValue(1, forKeyPath: "magnitude.richter")
            try context.save()
            #expect(try context.found("magnitude != nil") == ["a"])
        }
    }

    @Test func predicatesOfTheWholeAreAsked() throws {
        let magnitude = Quakes.magnitude()
        magnitude.setValidationPredicates([NSPredicate(format: "richter <= 10")], withValidationWarnings: ["too much"])
        try fixture.open([Quakes.entity(magnitude)]) { context in
            let quake = context.quake("a", ["richter": 11, "scale": "MW"])
            let error = try #require(#expect(throws: NSError.self) { try context.save() })
            #expect(error.code == 1550 && error.userInfo[NSValidationKeyErrorKey] as? String == "magnitude")
            quake.setValue(9, forKeyPath: "magnitude.richter")
            try context.save()
            var wrong: AnyObject? = "much" as NSString
            #expect(throws: NSError.self) {
                try withUnsafeMutablePointer(to: &wrong) {
                    try quake.validateValue(AutoreleasingUnsafeMutablePointer($0), forKeyPath: "magnitude.richter")
                }
            }
        }
    }

    @Test func aRequiredElementIsAskedForOnceAnyHasAValue() throws {
        try fixture.open([Quakes.entity()]) { context in
            let quake = context.quake("a", nil)
            try context.save()
            quake.setValue(["richter": 5.5], forKey: "magnitude")
            let error = try #require(#expect(throws: NSError.self) { try context.save() })
            #expect(error.code == 1570 && error.userInfo[NSValidationKeyErrorKey] as? String == "magnitude.scale")
            quake.setValue("MW", forKeyPath: "magnitude.scale")
            try context.save()
        }
    }

    @Test func aRequiredOneNeedsAnElement() throws {
        let magnitude = Quakes.composite("magnitude", [Quakes.attribute("richter", .double)], isOptional: false)
        try fixture.open([Quakes.entity(magnitude)]) { context in
            let quake = context.quake("a", nil)
            let error = try #require(#expect(throws: NSError.self) { try context.save() })
            #expect(error.code == 1570 && error.userInfo[NSValidationKeyErrorKey] as? String == "magnitude")
            quake.setValue(["richter": 1], forKey: "magnitude")
            try context.save()
            var wrong: AnyObject? = ["richter": "much"] as NSDictionary
            #expect(throws: NSError.self) { try quake.validateValue(&wrong, forKey: "magnitude") }
            var right: AnyObject? = ["richter": 3] as NSDictionary
            try quake.validateValue(&right, forKey: "magnitude")
        }
    }

    @Test func boundsOfElementsHold() throws {
        let richter = Quakes.attribute("richter", .double)
        richter.maximumValue = 10
        try fixture.open([Quakes.entity(Quakes.composite("magnitude", [richter]))]) { context in
            _ = context.quake("a", ["richter": 11])
            let error = try #require(#expect(throws: NSError.self) { try context.save() })
            #expect(error.code == 1610 && error.userInfo[NSValidationKeyErrorKey] as? String == "magnitude.richter")
        }
    }
}

final class MistypedQuake: NSManagedObject {
    @Managed var magnitude: String?
}

private final class Told: Sendable {
    private let messages = Mutex<[String]>([])

    func add(_ message: String) { messages.withLock { $0.append(message) } }
    var all: [String] { messages.withLock { $0 } }
}
