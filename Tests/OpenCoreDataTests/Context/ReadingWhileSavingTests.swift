import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// A save moves changes one level toward the store while a child reads: whoever reads sees each of them, here or there, never neither.
/// What was deleted is not seen again.
@Suite struct ReadingWhileSavingTests {
    /// What is read. Every answer has to name what was there before the reading began.
    enum Reading: String, CaseIterable, CustomTestStringConvertible {
        case membersByForeignKey, membersOfPairs, membersInOrder, members, fetch, fetchOfIDs, fetchByReference, count, key, row

        var testDescription: String { rawValue }
    }

    /// Which contexts save, one after the other, and when: beside which of the store's answers.
    struct Moment: CustomTestStringConvertible {
        let saving: [String]
        let isAfterAnswer: Bool
        let answer: Int

        var testDescription: String { "\(saving.joined(separator: ", ")) \(isAfterAnswer ? "after" : "before") answer \(answer)" }

        static let all = [["root"], ["main"], ["main", "root"], ["root", "main", "root"]].flatMap { saving in
            [true, false].flatMap { isAfterAnswer in (0..<4).map { Moment(saving: saving, isAfterAnswer: isAfterAnswer, answer: $0) } }
        }
    }

    // N14, N16
    @Test(arguments: Reading.allCases, Moment.all) func whatASaveMovesIsSeenByWhoReads(_ reading: Reading, _ moment: Moment) throws {
        let stack = MeddledStack()
        try stack.fill()
        let contexts = ["root": stack.root, "main": stack.main]
        stack.store.meddle(with: moment.answer) { isAfterAnswer in
            guard isAfterAnswer == moment.isAfterAnswer else { return }
            for name in moment.saving { try contexts[name]?.performAndWait { () throws in try contexts[name]?.save() } }
        }
        let found = try stack.reader.performAndWait { () throws -> [String] in try stack.read(reading) }
        #expect(found == ["at the root", "in main", "stored"])
    }

    // N14: what a child pushes while somebody looks up a key counts as it is now.
    @Test(arguments: [true, false]) func whatIsPushedWhileAKeyIsLookedUpHasItsKeyStillOrNot(_ takesKeyAway: Bool) throws {
        let stack = MeddledStack()
        try stack.fill()
        let writer = NSManagedObjectContext(.privateQueueConcurrencyType)
        writer.parent = stack.main
        stack.store.meddle(with: 0) { isAfterAnswer in
            guard isAfterAnswer else { return }
            try writer.performAndWait { () throws in
                let item = try #require(try writer.all("Item", "key == 'stored'").first)
                item.setValue(takesKeyAway ? "another" : 7, forKey: takesKeyAway ? "key" : "a")
                try writer.save()
            }
        }
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"]), key = UniqueKey([.string("stored")])
        let found = try stack.reader.performAndWait { () throws in try stack.reader.find(entity, constraint: 0, keys: [key]) }
        #expect(found[key]?.row?["a"] == (takesKeyAway ? nil : .int64(7)))
    }
}

/// A store that is interfered with, once, before or after one of its answers.
// What changes is behind a lock.
private final class MeddledStore: InMemoryStore, @unchecked Sendable {
    private struct Interference {
        /// How many answers are given in peace before.
        var answers: Int
        let body: @Sendable (_ isAfterAnswer: Bool) throws -> Void
    }

    private let interference = Mutex<Interference?>(nil)

    func meddle(with answer: Int, _ body: @escaping @Sendable (_ isAfterAnswer: Bool) throws -> Void) {
        interference.withLock { $0 = Interference(answers: answer, body: body) }
    }

    private func meddled<T>(_ answer: () throws -> T) throws -> T {
        let meddle = interference.withLock { interference -> (@Sendable (Bool) throws -> Void)? in
            guard let now = interference else { return nil }
            interference = now.answers > 0 ? Interference(answers: now.answers - 1, body: now.body) : nil
            return now.answers > 0 ? nil : now.body
        }
        try meddle?(false)
        let answer = try answer()
        try meddle?(true)
        return answer
    }

    override func fetch(_ plan: FetchPlan) throws -> [FetchedRow] { try meddled { try super.fetch(plan) } }
    override func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] { try meddled { try super.rows(for: ids) } }
    override func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] { try meddled { try super.relatedIDs(key) } }
    override func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]] { try meddled { try super.related(keys) } }

    override func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        try meddled { try super.objects(of: entity, constraint: constraint, keys: keys) }
    }
}

// What is in the contexts is used on their queues; the IDs are set once.
/// A root, a main context and one that reads, on a store that is interfered with. Of each thing there is one that is stored, one that the root has
/// not saved yet, and one that main has not; and the root and main have deleted one each.
private final class MeddledStack {
    let store: MeddledStore
    let coordinator: NSPersistentStoreCoordinator
    let root: NSManagedObjectContext, main: NSManagedObjectContext, reader: NSManagedObjectContext
    private var department: NSManagedObjectID?, skill: NSManagedObjectID?, playlist: NSManagedObjectID?

    init() {
        let model = Company.model()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = MeddledStore(entities: model.entities)
        coordinator.add(store)
        root = NSManagedObjectContext(.privateQueueConcurrencyType)
        main = NSManagedObjectContext(.privateQueueConcurrencyType)
        reader = NSManagedObjectContext(.privateQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator
        main.parent = root
        reader.parent = main
    }

    func fill() throws {
        let first = NSManagedObjectContext(.privateQueueConcurrencyType)
        first.persistentStoreCoordinator = coordinator
        try first.performAndWait { () throws in
            let owners = [first.make("Department"), first.make("Skill"), first.make("Playlist")]
            try first.obtainPermanentIDs(for: owners)
            (department, skill, playlist) = (owners[0].objectID, owners[1].objectID, owners[2].objectID)
            for name in ["stored", "deleted at the root", "deleted in main"] { make(name, in: first) }
            try first.save()
        }
        try change(root, making: "at the root", deleting: "deleted at the root")
        try change(main, making: "in main", deleting: "deleted in main")
    }

    private func change(_ context: NSManagedObjectContext, making new: String, deleting old: String) throws {
        try context.performAndWait { () throws in
            make(new, in: context)
            for (entity, key) in [("Person", "name"), ("Track", "title"), ("Item", "key")] {
                for object in try context.all(entity, "\(key) == '\(old)'") { context.delete(object) }
            }
            context.processPendingChanges()
        }
    }

    private func make(_ name: String, in context: NSManagedObjectContext) {
        guard let department, let skill, let playlist else { return }
        let person = context.make("Person", ["name": name, "department": context.object(with: department)])
        person.mutableSetValue(forKey: "skills").add(context.object(with: skill))
        let track = context.make("Track", ["title": name])
        context.object(with: playlist).mutableOrderedSetValue(forKey: "tracks").add(track)
        context.make("Item", ["key": name])
    }

    /// On the reader's queue.
    func read(_ reading: ReadingWhileSavingTests.Reading) throws -> [String] {
        guard let department, let skill, let playlist else { return [] }
        func names(_ objects: Set<NSManagedObject>, _ key: String = "name") -> [String] {
            objects.compactMap { $0.value(forKey: key) as? String }.sorted()
        }
        switch reading {
        case .membersByForeignKey:
            return names(reader.object(with: department).value(forKey: "employees") as? Set<NSManagedObject> ?? [])
        case .membersOfPairs: return names(reader.object(with: skill).value(forKey: "people") as? Set<NSManagedObject> ?? [])
        case .membersInOrder:
            let tracks = reader.object(with: playlist).value(forKey: "tracks") as? NSOrderedSet
            return names(Set(tracks?.array as? [NSManagedObject] ?? []), "title")
        case .members:
            let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
            request.relationshipKeyPathsForPrefetching = ["employees"]
            return names(try reader.fetch(request).first?.value(forKey: "employees") as? Set<NSManagedObject> ?? [])
        case .fetch: return try reader.names("Person")
        case .fetchOfIDs:
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
            request.resultType = .managedObjectIDResultType
            return names(Set(try reader.fetch(request).map(reader.object)))
        case .fetchByReference:
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(
                format: "department == %@ AND ANY skills == %@", reader.object(with: department), reader.object(with: skill))
            return names(Set(try reader.fetch(request)))
        case .count:
            // So many as there are names.
            let count = try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
            return count == 3 ? ["at the root", "in main", "stored"] : ["\(count)"]
        case .key:
            guard let entity = coordinator.managedObjectModel.entitiesByName["Item"] else { return [] }
            let keys = ["at the root", "in main", "stored", "deleted at the root", "deleted in main"].map { UniqueKey([.string($0)]) }
            return try reader.find(entity, constraint: 0, keys: keys).values.compactMap { $0.row?["key"].plain as? String }.sorted()
        case .row:
            return names(Set(try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { reader.object(with: $0.objectID) }))
        }
    }
}
