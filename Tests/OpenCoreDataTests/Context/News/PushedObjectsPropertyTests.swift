import Foundation
import OpenCoreDataTestSupport
import Synchronization
import TestTraits
import Testing

@testable import OpenCoreData

/// Workers push into a context of the main queue in turns that end anywhere, while others change, delete, fetch and save there, in line and out of it.
@Suite struct PushedObjectsPropertyTests {
    // N3, N8, N23, N25, T6, T7
    @Test(.longComputation) func whoListensKnowsWhatIsThereWhateverComesBetweenTheTurns() throws {
        for seed in 0..<400 {
            if let failure = try PushedObjectsRun(seed).run() {
                Issue.record("seed \(seed): \(failure)")
                return
            }
        }
    }
}

/// Knows of a context what its notifications say.
// Used on the main queue, and by the test when that has come to rest.
private final class Listener: @unchecked Sendable {
    /// The names of unsaved and saved objects by ID.
    private(set) var known: [NSManagedObjectID: String] = [:]
    private(set) var saved: Set<NSManagedObjectID> = []
    private(set) var failures: [String] = []
    private var tokens: [any NSObjectProtocol] = []
    /// An object that a child deletes is told of to those who have it.
    private var kept: [NSManagedObject] = []
    let keeps: Bool

    init(keeps: Bool) { self.keeps = keeps }

    func listen(to context: NSManagedObjectContext) {
        for name in [
            Notification.Name.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
        ] {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned self] notification in
                    switch name {
                    case .NSManagedObjectContextObjectsDidChange: self.hear(ofChanges: notification)
                    case .NSManagedObjectContextDidSave: self.hear(ofSave: notification)
                    default: self.hear(ofSavedIDs: notification)
                    }
                })
        }
    }

    func stop() { for token in tokens { NotificationCenter.default.removeObserver(token) } }

    private func objects(_ notification: Notification, _ key: String) -> Set<NSManagedObject> {
        notification.userInfo?[key] as? Set<NSManagedObject> ?? []
    }

    private func fail(_ what: String) { failures.append(what) }

    private func hear(ofChanges notification: Notification) {
        let inserted = objects(notification, NSInsertedObjectsKey), updated = objects(notification, NSUpdatedObjectsKey)
        for object in inserted {
            if known[object.objectID] != nil { fail("\(object.objectID) was told as inserted twice") }
            known[object.objectID] = object.value(forKey: "name") as? String
            if keeps { kept.append(object) }
        }
        for object in updated {
            if known[object.objectID] == nil { fail("\(object.objectID) was told as updated before it was told of") }
            known[object.objectID] = object.value(forKey: "name") as? String
        }
        for object in objects(notification, NSDeletedObjectsKey) { known[object.objectID] = nil }
    }

    private func hear(ofSave notification: Notification) {
        for object in objects(notification, NSInsertedObjectsKey) {
            if known[object.objectID] == nil { fail("\(object.objectID) was saved before it was told of") }
            if !saved.insert(object.objectID).inserted { fail("\(object.objectID) was saved as new twice") }
        }
        for object in objects(notification, NSUpdatedObjectsKey) {
            if !saved.contains(object.objectID) { fail("\(object.objectID) was saved as updated before it was saved as new") }
        }
        for object in objects(notification, NSDeletedObjectsKey) { saved.remove(object.objectID) }
    }

    private func hear(ofSavedIDs notification: Notification) {
        for key in [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey] {
            let ids = notification.userInfo?[key] as? Set<NSManagedObjectID> ?? []
            if !ids.isSubset(of: saved) { fail("\(ids.subtracting(saved)) was told by ID as saved and not as objects") }
        }
    }
}

// The context and what belongs to it are used on its queue; what the steps share is guarded.
private final class PushedObjectsRun: @unchecked Sendable {
    private let stack = TestStack()
    private let main: NSManagedObjectContext
    private let listener: Listener
    private var random: SeededRandom
    private let seed: Int
    private let failures = Mutex<[String]>([])

    init(_ seed: Int) {
        self.seed = seed
        listener = Listener(keeps: seed % 2 == 0)
        random = SeededRandom(seed: seed + 11)
        main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main")
        main.objectsInATurn = 1 + random.next(upTo: 4)
    }

    /// What is wrong; nil: nothing.
    func run() throws -> String? {
        main.performAndWait { listener.listen(to: main) }
        defer { main.performAndWait { listener.stop() } }
        for step in 0..<6 + random.next(upTo: 10) {
            let choice = random.next(upTo: 10), own = SeededRandom(seed: seed * 100 + step)
            switch choice {
            case 0...4: push(own)
            case 5: main.enqueue { self.change(own) }
            case 6: DispatchQueue.main.async { self.main.performAndWait { self.change(own) } }
            case 7: main.enqueue { self.save() }
            case 8: DispatchQueue.main.async { self.main.performAndWait { self.save() } }
            default: main.performAndWait { change(own) }
            }
        }
        // Behind what is handed in from between the turns.
        DispatchQueue.main.sync {}
        main.performAndWait { main.processPendingChanges() }
        return main.performAndWait { verdict() }
    }

    /// A worker changes, deletes and makes people, and saves.
    private func push(_ random: SeededRandom) {
        var random = random
        let worker = stack.child(of: main)
        worker.performAndWait {
            attempt {
                for person in try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) where person.objectID.key % 2 == 0 {
                    switch random.next(upTo: 6) {
                    case 0: person.setValue("worker \(random.next(upTo: 1000))", forKey: "name")
                    case 1: worker.delete(person)
                    default: break
                    }
                }
                for number in 0..<random.next(upTo: 12) { worker.make("Person", ["name": "new \(number)"]) }
                try worker.save()
            }
        }
    }

    /// On the main queue.
    private func change(_ random: SeededRandom) {
        var random = random
        attempt {
            // Who changes what another deletes is refused; not here.
            for person in try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) where person.objectID.key % 2 == 1 {
                switch random.next(upTo: 8) {
                case 0: person.setValue("main \(random.next(upTo: 1000))", forKey: "name")
                case 1: main.delete(person)
                default: break
                }
            }
            if random.next(upTo: 2) == 0 { main.make("Person", ["name": "made here"]) }
        }
    }

    private func save() { attempt { try main.save() } }

    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch { failures.withLock { $0.append("\(error)") } }
    }

    private func verdict() -> String? {
        attempt {
            let people = try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            let names = Dictionary(uniqueKeysWithValues: people.map { ($0.objectID, $0.value(forKey: "name") as? String ?? "") })
            // What was deleted and nobody had is in it still.
            if names != (listener.keeps ? listener.known : listener.known.filter { names[$0.key] != nil }) {
                failures.withLock { $0.append("there is \(names), and who listened knows \(listener.known)") }
            }
            try main.save()
            if listener.keeps ? listener.saved != Set(names.keys) : !listener.saved.isSuperset(of: names.keys) {
                failures.withLock { $0.append("\(names.keys) is there, and \(listener.saved) was told as saved") }
            }
            if main.hasChanges || main.registeredObjects.contains(where: \.hasChanges) { failures.withLock { $0.append("something is unsaved") } }
        }
        let all = failures.withLock { $0 } + listener.failures
        return all.isEmpty ? nil : all.joined(separator: "\n")
    }
}
