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

    // MARK: Validation

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

private final class Told: Sendable {
    private let messages = Mutex<[String]>([])

    func add(_ message: String) { messages.withLock { $0.append(message) } }
    var all: [String] { messages.withLock { $0 } }
}
