import CoreData
import Foundation
import Testing

@Suite struct ObjectValidationTests {
    // L28, L29
    @Test func aMissingValueIsReportedWithItsObjectAndKey() throws {
        let stack = try Stack(), root = stack.root
        root.performAndWait {
            root.make("Person").setValue(nil, forKey: "name")
            let error = #expect(throws: NSError.self) { try root.save() }
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == 1570)
            #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
            #expect((error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject)?.entity.name == "Person")
        }
    }

    @Test func severalMissingValuesAreOneErrorWithDetails() throws {
        let stack = try Stack(), root = stack.root
        root.performAndWait {
            for entity in ["Person", "Department", "Person"] { root.make(entity).setValue(nil, forKey: "name") }
            let error = #expect(throws: NSError.self) { try root.save() }
            #expect(error?.code == NSValidationMultipleErrorsError)
            #expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code) == [1570, 1570, 1570])
        }
    }

    // L27, R8
    @Test func countsAreEnforcedForNonEmptyOptionalRelationshipsOnly() throws {
        func fill(_ count: Int) throws -> Int? {
            let stack = try Stack(), root = stack.root
            return root.performAndWait {
                root.make("Crew", ["sailors": Set((0..<count).map { _ in root.make("Sailor") })])
                return root.refusal()
            }
        }
        #expect(try fill(0) == nil)
        #expect(try fill(1) == 1580)
        #expect(try fill(2) == nil)
        #expect(try fill(4) == 1590)
    }

    @Test func theRulesOfAnObjectCanBeAskedWithoutASave() throws {
        let stack = try Stack(), root = stack.root
        root.performAndWait {
            let ada = root.make("Person")
            #expect(throws: Never.self) { try ada.validateForInsert() }
            ada.setValue(nil, forKey: "name")
            #expect(throws: NSError.self) { try ada.validateForInsert() }
            #expect(throws: NSError.self) { try ada.validateForUpdate() }
            #expect(throws: Never.self) { try ada.validateForDelete() }
        }
    }
}
