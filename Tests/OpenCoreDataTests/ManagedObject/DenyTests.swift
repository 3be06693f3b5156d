import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Lets a test act where its deletion has just been allowed, once.
final class GuardedObject: NSManagedObject {
    var afterValidation: (() -> Void)?

    override func validateForDelete() throws {
        try super.validateForDelete()
        afterValidation?()
        afterValidation = nil
    }
}

/// Deletions that related objects forbid, at every level, whoever knows those objects.
@Suite struct DenyTests {
    private func blocking(_ error: NSError?) -> Set<NSManagedObjectID>? {
        #expect(error?.code == CocoaError.Code.validationRelationshipDeniedDelete.rawValue)
        return (error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID]).map { Set($0) }
    }

    // GB18, L29
    @Test(arguments: [1, 2, 3])
    func theErrorNamesTheObjectsThatStandInTheWay(_ levels: Int) throws {
        let stack = TestStack()
        var context = stack.root
        for _ in 1..<levels { context = stack.child(of: context) }
        try stack.root.performAndWait { () throws in
            let account = stack.root.make("Account")
            let orders = (0..<7).map { _ in stack.root.make("Order", ["account": account]).objectID }
            try stack.root.save()
            try context.performAndWait { () throws in
                let own = context.object(with: account.objectID)
                context.delete(own)
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(blocking(error) == Set(orders))
                #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "orders")
                #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === own)
                #expect(own.isDeleted && context.hasChanges)
                // Once they go as well, nothing forbids it.
                for id in orders { context.delete(context.object(with: id)) }
                try context.save()
            }
        }
    }

    // GB18
    @Test func whatTheParentHasUnsavedForbidsADeletionInAChildThatDoesNotKnowIt() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let account = stack.root.make("Account"), kept = stack.root.make("Order", ["account": account])
            try stack.root.save()
            let own = child.object(with: account.objectID)
            #expect(own.objectIDs(forRelationshipNamed: "orders") == [kept.objectID])
            let added = stack.root.make("Order", ["account": account])
            stack.root.delete(kept)
            stack.root.processPendingChanges()
            child.delete(own)
            #expect(blocking(#expect(throws: NSError.self) { try child.save() }) == [added.objectID])
            #expect(!stack.root.deletedObjects.contains(account))
            stack.root.delete(added)
            stack.root.processPendingChanges()
            try child.save()
            #expect(stack.root.deletedObjects.contains(account))
            try stack.root.save()
            #expect(try stack.stored("Account", "title").isEmpty)
        }
    }

    // GB18, GB2
    @Test(.timeLimit(.minutes(60))) func itIsCheckedWithoutTheParentsQueue() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        let account = try stack.root.performAndWait { () throws in
            let account = stack.root.make("Account")
            stack.root.make("Order", ["account": account])
            try stack.root.save()
            return account.objectID
        }
        whileBusy(stack.root) {
            child.performAndWait {
                child.delete(child.object(with: account))
                #expect(blocking(#expect(throws: NSError.self) { try child.save() })?.count == 1)
            }
        }
    }

    // GB18, R5
    @Test func twoChildrenWhoseChangesForbidEachOtherAreStoppedAtTheRoot() throws {
        let stack = TestStack()
        let first = stack.child(of: stack.root), second = stack.child(of: stack.root)
        let account = try stack.independent().performAndWait { () throws -> NSManagedObjectID in
            let context = stack.independent()
            return try context.performAndWait { () throws in
                let account = context.make("Account")
                try context.save()
                return account.objectID
            }
        }
        let order = try second.performAndWait { () throws in
            let order = second.make("Order", ["account": second.object(with: account)])
            try first.performAndWait { () throws in
                first.delete(first.object(with: account))
                try first.save()
            }
            try second.save()
            return order.objectID
        }
        stack.root.performAndWait {
            stack.root.processPendingChanges()
            #expect(blocking(#expect(throws: NSError.self) { try stack.root.save() }) == [order])
        }
        #expect(stack.store.rowCount == 1)
    }

    // GB18, GB2
    @Test func whatAChildPushesWhileTheDeletionIsValidatedForbidsItToo() throws {
        let account = Company.entity("Account", GuardedObject.self), order = Company.entity("Order")
        Company.relate(account, "orders", many: true, order, "account", many: false, rule: .denyDeleteRule)
        let stack = TestStack(NSManagedObjectModel(entities: [account, order]))
        let child = stack.child(of: stack.root)
        try stack.root.performAndWait { () throws in
            let account = try #require(stack.root.make("Account") as? GuardedObject)
            try stack.root.save()
            let order = child.performAndWait { child.make("Order", ["account": child.object(with: account.objectID)]).objectID }
            stack.root.delete(account)
            let pushed = DispatchSemaphore(value: 0)
            account.afterValidation = {
                child.enqueue {
                    #expect(throws: Never.self) { try child.save() }
                    pushed.signal()
                }
                pushed.wait()
            }
            #expect(blocking(#expect(throws: NSError.self) { try stack.root.save() }) == [order])
            #expect(stack.store.rowCount == 1 && account.isDeleted && stack.root.hasChanges)
            #expect(try stack.root.all("Order").map(\.objectID) == [order])
        }
    }

    /// A holder whose to-one forbids deleting it.
    private static func model() -> NSManagedObjectModel {
        let holder = Company.entity("Holder"), thing = Company.entity("Thing")
        Company.relate(holder, "thing", many: false, thing, "holder", many: false, rule: .denyDeleteRule)
        return NSManagedObjectModel(entities: [holder, thing])
    }

    // GB18, R5
    @Test func aToOneForbidsItByWhatTheParentHasUnlessTheChildSetIt() throws {
        let stack = TestStack(Self.model())
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let holder = stack.root.make("Holder"), thing = stack.root.make("Thing")
            try stack.root.save()
            let own = child.object(with: holder.objectID)
            #expect(own.value(forKey: "thing") == nil)
            holder.setValue(thing, forKey: "thing")
            stack.root.processPendingChanges()
            child.delete(own)
            #expect(blocking(#expect(throws: NSError.self) { try child.save() }) == [thing.objectID])
            child.rollback()
            child.refresh(own, mergeChanges: false)
            own.setValue(nil, forKey: "thing")
            child.delete(own)
            try child.save()
            try stack.root.save()
            #expect(stack.store.rowCount == 1)
        }
    }
}
