import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// Large pushes into a context of the main queue, which is told of them over several turns.
// Unchecked: as the fixture.
@Suite final class PushedObjectsTests: PushedObjectsFixture, @unchecked Sendable {
    // N25, GB29
    @Test func theMainQueueServesOthersBetweenTheTurnsOfALargePush() throws {
        let told = Mutex<[Int]>([])
        try pushing(20) { [changes] in told.withLock { $0.append(changes.count) } }
        main.performAndWait {}
        #expect(told.withLock { $0 } == [0] && changes.count == 1)
        #expect(changes.objects(NSInsertedObjectsKey).count == 20)
        #expect(changes.threads.count == 1)
    }

    // N25
    @Test func aPushThatFitsIntoOneTurnTakesOne() throws {
        let told = Mutex<[Int]>([])
        try pushing(3) { [changes] in told.withLock { $0.append(changes.count) } }
        main.performAndWait {}
        #expect(told.withLock { $0 } == [1])
    }

    // N25, C5: what was handed to the context after the push runs after it was told of, in its order.
    @Test(arguments: 10..<30) func blocksOfTheContextWaitUntilALargePushIsTold(_ count: Int) throws {
        let told = Mutex<[Int]>([])
        try whileBusy(main) {
            try push(count)
            for number in 0..<6 {
                let block = { @Sendable [changes] in told.withLock { $0.append(number * 10 + changes.count) } }
                if number % 2 == 0 { main.enqueue(block) } else { main.queue.async(block) }
            }
        }
        main.performAndWait { told.withLock { $0.append(60 + changes.count) } }
        #expect(told.withLock { $0 } == [1, 11, 21, 31, 41, 51, 61])
    }

    // N25, C5: what was there before a block of the context runs is told of before it.
    @Test func aBlockThatFindsALargePushRunsAfterItWasTold() throws {
        let told = Mutex<[Int]>([]), goOn = DispatchSemaphore(value: 0)
        DispatchQueue.main.async { goOn.wait() }
        main.enqueue { [changes] in told.withLock { $0.append(changes.count) } }
        try push(20)
        goOn.signal()
        main.performAndWait {}
        #expect(told.withLock { $0 } == [1] && changes.count == 1)
    }

    // N4, C5: what a block did is there for children at its end, whatever is still to be told.
    @Test func childrenSeeWhatABlockDidWhileALargePushIsToldBehindIt() throws {
        let names = Mutex<[String]>([]), isMade = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0),
            isRead = DispatchSemaphore(value: 0)
        let child = stack.child(of: main)
        main.enqueue { [main] in
            main.make("Person", ["name": "own"])
            isMade.signal()
            goOn.wait()
        }
        isMade.wait()
        try push(20)
        let read = { @Sendable in
            _ = self.failure { try elsewhere { child.performAndWait { names.withLock { $0 = (try? child.names("Person")) ?? [] } } } }
            isRead.signal()
        }
        DispatchQueue.main.async(execute: read)
        goOn.signal()
        isRead.wait()
        main.performAndWait {}
        #expect(names.withLock { $0.contains("own") } && changes.count == 1)
    }

    // N25, C5
    @Test func whatComesInTurnsBehindOthersKeepsItsPlace() throws {
        let told = Mutex<[String]>([]), failures = Mutex<[String]>([]), main = self.main, changes = self.changes
        let isHandedIn = DispatchSemaphore(value: 0)
        @Sendable func note(_ name: String) { main.enqueue { told.withLock { $0.append("\(name) after \(changes.count)") } } }
        try pushing(20) {
            note("first")
            self.failure { try elsewhere { try self.push(20, prefix: "Q") } }.map { failure in failures.withLock { $0.append(failure) } }
            note("second")
            note("third")
            isHandedIn.signal()
        }
        isHandedIn.wait()
        main.performAndWait { told.withLock { $0.append("last") } }
        #expect(failures.withLock { $0 } == [])
        // The first block finds the second push, which has come while it waited.
        #expect(told.withLock { $0 } == ["first after 2", "second after 2", "third after 2", "last"])
    }

    // C4, C5
    @Test func aThreadThatComesBetweenTheTurnsWaitsInLine() throws {
        let order = Mutex<[String]>([]), isBetween = DispatchSemaphore(value: 0), main = self.main
        try pushing(20) {
            let waiting = main.queue.pending.load(ordering: .relaxed)
            isBetween.signal()
            // The thread has come as far as to the queue.
            while main.queue.pending.load(ordering: .relaxed) == waiting { sched_yield() }
            main.enqueue { order.withLock { $0.append("block") } }
        }
        isBetween.wait()
        main.performAndWait { order.withLock { $0.append("told of \(changes.count)") } }
        main.performAndWait {}
        #expect(order.withLock { Set($0) } == ["told of 1", "block"])
        #expect(main.queue.pending.load(ordering: .relaxed) == 0)
    }

    // C12
    @available(*, deprecated, message: "Tests tryLock(), which is deprecated.")
    @Test func aContextThatIsToldInTurnsIsNotFree() throws {
        let isFree = Mutex<Bool?>(nil), isBetween = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
        try pushing(20) {
            isBetween.signal()
            goOn.wait()
        }
        isBetween.wait()
        try elsewhere { isFree.withLock { $0 = main.tryLock() } }
        goOn.signal()
        main.performAndWait {}
        #expect(isFree.withLock { $0 } == false && changes.count == 1)
    }

    // N25
    @Test func whatIsChangedBetweenTheTurnsIsToldWithThePush() throws {
        let main = self.main
        try pushing(20) {
            main.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                let people = (try? main.fetch(request)) ?? []
                people.first { $0.value(forKey: "name") as? String == "P0" }.map(main.delete)
                main.make("Person", ["name": "between"])
            }
        }
        main.performAndWait {}
        main.performAndWait {
            let names = changes.notifications.flatMap { inserted($0).map { $0.value(forKey: "name") as? String ?? "" } }
            #expect(names.count == Set(names).count && names.contains("between") && !names.contains("P0"))
            #expect(names.count == 20)
        }
    }

    // N19, N25
    @Test func whatAChildDeletesBetweenTheTurnsIsNotToldAsNew() throws {
        let failure = Mutex<String?>(nil), child = stack.child(of: main)
        let delete = { @Sendable in
            try child.performAndWait { () throws in
                for person in try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).prefix(5) { child.delete(person) }
                try child.save()
            }
        }
        try pushing(20) { failure.withLock { $0 = self.failure { try elsewhere(delete) } } }
        main.performAndWait {}
        main.performAndWait {
            let told = inserted(changes.notifications.first)
            #expect(told.count == 15 && told.allSatisfy { $0.isInserted && $0.value(forKey: "name") != nil })
        }
        #expect(failure.withLock { $0 } == nil && changes.count == 1)
    }

    // N19, N25: who asks before all objects are made is not told of what is gone, either.
    @Test func whatAChildDeletedIsNotToldAsNewWhereChangesAreProcessedAtOnce() throws {
        let failure = Mutex<String?>(nil), child = stack.child(of: main), main = self.main
        let delete = { @Sendable in
            try child.performAndWait { () throws in
                for person in try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).prefix(15) { child.delete(person) }
                try child.save()
            }
        }
        try pushing(20) {
            failure.withLock { $0 = self.failure { try elsewhere(delete) } }
            main.performAndWait { main.processPendingChanges() }
        }
        main.performAndWait {}
        main.performAndWait {
            let told = changes.notifications.map(inserted)
            #expect(told.map(\.count) == [5] && told.allSatisfy { $0.allSatisfy { $0.value(forKey: "name") != nil } })
        }
        #expect(failure.withLock { $0 } == nil)
    }

    // C5: nobody keeps a context whose blocks have waited in line.
    @Test func aContextIsFreedAfterItsBlocksHaveWaited() throws {
        weak var freed: NSManagedObjectContext?
        do {
            let other = stack.child(of: stack.root, .mainQueueConcurrencyType)
            other.objectsInATurn = 3
            freed = other
            let child = stack.child(of: other)
            try whileBusy(other) {
                try child.performAndWait {
                    for number in 0..<20 { child.make("Person", ["name": "\(number)"]) }
                    try child.save()
                }
                for _ in 0..<3 { other.enqueue {} }
            }
            try other.performAndWait { try other.save() }
        }
        for _ in 0..<50 { DispatchQueue.main.sync {} }
        #expect(freed == nil)
    }

    // L21, T8
    @Test(arguments: [false, true]) func whatIsThrownAwayBetweenTheTurnsIsNotTold(_ resets: Bool) throws {
        let main = self.main
        try pushing(20) { main.performAndWait { resets ? main.reset() : main.rollback() } }
        main.performAndWait {}
        main.performAndWait {
            #expect(changes.notifications.allSatisfy { inserted($0).isEmpty })
            #expect(main.registeredObjects.isEmpty && main.pushedObjects == nil && !main.hasChanges)
        }
    }

    // N25
    @Test func aSecondPushBetweenTheTurnsIsToldAsWell() throws {
        let failure = Mutex<String?>(nil)
        try pushing(20) { failure.withLock { $0 = self.failure { try elsewhere { try self.push(10, prefix: "Q") } } } }
        main.performAndWait {}
        main.performAndWait {}
        #expect(failure.withLock { $0 } == nil && changes.notifications.map { inserted($0).count } == [20, 10])
        try main.performAndWait { try main.save() }
        #expect(inserted(saves.notifications.first).count == 30)
    }

    // GB29: who follows by ID hears of the same.
    @Test func whoFollowsByIDHearsOfALargePush() throws {
        let listener = ListenerByID()
        listener.follow(main)
        try push(20)
        main.performAndWait {}
        #expect(listener.heard.map(\.inserted.count) == [20])
        #expect(listener.heard.first?.inserted == Set(changes.objects(NSInsertedObjectsKey).map(\.objectID)))
    }
}
