import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Hears that a merge policy left it with other values than were saved.
final class Awoken: NSManagedObject {
    private(set) var isAwoken = false

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        if flags.contains(.mergePolicy) { isAwoken = true }
    }
}

/// Whoever is not what was saved of it is told.
@Suite struct AwakeAfterPolicyTests {
    // Used on one thread.
    private final class Renaming: NSMergePolicy, @unchecked Sendable {
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            for conflict in list { for object in conflict.conflictingObjects { object.setValue("renamed", forKey: "code") } }
        }
    }

    private let stack: TestStack
    private let other: NSManagedObjectContext

    init() {
        let thing = Company.entity("Thing", Awoken.self), badge = Company.entity("Badge", Awoken.self), owner = Company.entity("Owner", Awoken.self)
        for entity in [thing, badge, owner] {
            entity.properties = [Company.attribute("code", .string), Company.attribute("a", .integer64, default: 0)]
        }
        thing.uniquenessConstraints = [["code"]]
        Company.relate(thing, "badge", many: false, badge, "thing", many: false)
        owner.properties += [NSRelationshipDescription(name: "thing", destination: thing, toMany: false)]
        stack = TestStack(NSManagedObjectModel(entities: [thing, badge, owner]))
        other = stack.independent()
    }

    // P10, L25
    @Test func whoWasGivenAnotherKeyIsTold() throws {
        try holding(stack.root, other) { () throws in
            other.make("Thing", ["code": "k"])
            try other.save()
            stack.root.mergePolicy = Renaming(merge: .errorMergePolicyType)
            let twin = stack.root.make("Thing", ["code": "k"]) as? Awoken
            let bystander = stack.root.make("Thing", ["code": "l"]) as? Awoken
            try stack.root.save()
            #expect(twin?.isAwoken == true && bystander?.isAwoken == false)
        }
    }

    // P13, L25
    @Test func whoTakesOverWhatAnotherBringsIsTold() throws {
        try holding(stack.root, other) { () throws in
            stack.root.mergePolicy = .mergeByPropertyObjectTrump
            let owner = stack.root.make("Thing", ["code": "k", "a": 1]) as? Awoken
            try stack.root.save()
            let badge = stack.root.make("Badge")
            owner?.setValue(badge, forKey: "badge")
            stack.root.make("Thing", ["code": "k", "a": 5])
            try stack.root.save()
            #expect(owner?.value(forKey: "a") as? Int == 5 && owner?.value(forKey: "badge") as? NSManagedObject == badge)
            #expect(owner?.isAwoken == true)
        }
    }

    // P13, R2, L25
    @Test func whoIsLetGoOfForAPartnerThatCameOverIsTold() throws {
        try holding(stack.root, other) { () throws in
            stack.root.mergePolicy = .mergeByPropertyObjectTrump
            other.make("Thing", ["code": "k", "badge": other.make("Badge")])
            try other.save()
            let before = try stack.root.all("Badge").first as? Awoken
            before?.setValue(7, forKey: "a")
            stack.root.make("Thing", ["code": "k", "badge": stack.root.make("Badge")])
            try stack.root.save()
            #expect(before?.isAwoken == true && before?.value(forKey: "thing") == nil)
        }
    }

    // R5, L25
    @Test func whoseReferenceIsEmptiedIsTold() throws {
        try holding(stack.root, other) { () throws in
            let thing = stack.root.make("Thing", ["code": "k"]), owner = stack.root.make("Owner", ["thing": thing]) as? Awoken
            try stack.root.save()
            let child = stack.child(of: stack.root)
            try child.performAndWait { () throws in
                child.delete(child.object(with: thing.objectID))
                try child.save()
            }
            try stack.root.save()
            #expect(owner?.value(forKey: "thing") == nil && owner?.isAwoken == true)
        }
    }
}
