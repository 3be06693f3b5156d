import Foundation
import OpenCoreData
import Testing

typealias AnyController = NSFetchedResultsController<any NSFetchRequestResult>

/// What a controller shows: names of sections and the IDs in them.
struct Shown: Equatable, CustomStringConvertible {
    var sections: [Section] = []

    struct Section: Equatable {
        var name: String
        var ids: [NSManagedObjectID]
    }

    init() {}

    init<T>(_ controller: NSFetchedResultsController<T>) {
        sections = (controller.sections ?? []).map { section in
            Section(name: section.name, ids: (section.objects ?? []).compactMap { ($0 as? NSManagedObject)?.objectID ?? $0 as? NSManagedObjectID })
        }
    }

    /// The same, where some objects turned out to be others.
    var current: Shown {
        var result = self
        for index in sections.indices { result.sections[index].ids = sections[index].ids.map(\.current) }
        return result
    }

    var ids: [NSManagedObjectID] { sections.flatMap(\.ids) }
    var description: String { sections.map { "\($0.name): \($0.ids.map(\.key))" }.joined(separator: "; ") }
}

/// A delegate that writes everything down, and carries out on a list of its own what it hears.
final class ResultsRecorder: NSFetchedResultsControllerDelegate {
    struct ObjectChange {
        let type: NSFetchedResultsChangeType
        let object: Any
        let old: IndexPath?
        let new: IndexPath?

        var id: NSManagedObjectID? { (object as? NSManagedObject)?.objectID ?? object as? NSManagedObjectID }
    }

    struct SectionChange {
        let type: NSFetchedResultsChangeType
        let name: String
        let count: Int
        let index: Int
    }

    /// The names of what was called, in order.
    private(set) var calls: [String] = []
    private(set) var objects: [ObjectChange] = []
    private(set) var sections: [SectionChange] = []
    private(set) var lastController: AnyController?
    /// What the controller showed when it was about to change.
    private(set) var before = Shown()
    /// The list kept by following the reports.
    var shown = Shown()
    /// Called at the end of each report.
    var onDidChange: (() -> Void)?

    func forget() {
        calls = []
        objects = []
        sections = []
    }

    /// The changes in words: `insert - 0.1`.
    var lines: [String] {
        objects.map { change in
            func text(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.row)" } ?? "-" }
            return "\(change.type) \(text(change.old)) \(text(change.new))"
        }
    }

    func controllerWillChangeContent(_ controller: AnyController) {
        forget()
        calls.append("will")
        before = Shown(controller)
        lastController = controller
    }

    func controller(
        _ controller: AnyController, didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        calls.append("section")
        sections.append(SectionChange(type: type, name: sectionInfo.name, count: sectionInfo.numberOfObjects, index: sectionIndex))
    }

    func controller(
        _ controller: AnyController, didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        calls.append("object")
        objects.append(ObjectChange(type: type, object: anObject, old: indexPath, new: newIndexPath))
    }

    func controllerDidChangeContent(_ controller: AnyController) {
        calls.append("did")
        carryOut()
        onDidChange?()
    }

    /// Does to the own list what was reported, as a table does: away by the old places, then in by the new ones.
    private func carryOut() {
        if before != shown.current { Issue.record("before the change: \(before), followed: \(shown)") }
        func id(at path: IndexPath) -> NSManagedObjectID? {
            guard before.sections.indices.contains(path.section), before.sections[path.section].ids.indices.contains(path.row) else { return nil }
            return before.sections[path.section].ids[path.row]
        }
        for change in objects {
            #expect(change.old.map { id(at: $0) == change.id } ?? (change.type == .insert), "\(lines)")
            #expect((change.new == nil) == (change.type == .delete))
        }
        // What turned out to be another object leaves its place, and is reported as the other.
        let own = objects.filter { change in change.old.map { shown.sections[$0.section].ids[$0.row].successor == nil } ?? true }
        #expect(Set(own.compactMap(\.id)).count == own.count, "an object is reported once")
        let removed = objects.filter { $0.type == .delete || $0.type == .move }.compactMap(\.old).sorted(by: >)
        for path in removed { shown.sections[path.section].ids.remove(at: path.row) }
        for change in sections.filter({ $0.type == .delete }).sorted(by: { $0.index > $1.index }) {
            let section = shown.sections.remove(at: change.index)
            #expect(section.ids.isEmpty && section.name == change.name, "what is in a deleted section leaves it")
        }
        for change in sections.filter({ $0.type == .insert }).sorted(by: { $0.index < $1.index }) {
            shown.sections.insert(Shown.Section(name: change.name, ids: []), at: change.index)
        }
        let coming = objects.filter { $0.type == .insert || $0.type == .move }.compactMap { change in
            change.new.flatMap { path in change.id.map { (path, $0) } }
        }
        for (path, id) in coming.sorted(by: { $0.0 < $1.0 }) { shown.sections[path.section].ids.insert(id, at: path.row) }
        for change in objects where change.type == .update {
            #expect(change.new.map { shown.sections[$0.section].ids[$0.row] } == change.id)
        }
    }
}

/// A delegate that takes differences. It keeps a list by applying them.
final class DifferenceRecorder: NSFetchedResultsControllerDelegate {
    private(set) var differences: [CollectionDifference<NSManagedObjectID>] = []
    var ids: [NSManagedObjectID] = []
    /// Calls of methods that differences replace.
    private(set) var others = 0

    func controller(_ controller: AnyController, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>) {
        differences.append(diff)
        if let next = ids.applying(diff) { ids = next } else { Issue.record("\(diff) does not fit") }
    }

    func controllerWillChangeContent(_ controller: AnyController) { others += 1 }
    func controllerDidChangeContent(_ controller: AnyController) { others += 1 }
}

extension NSManagedObjectContext {
    /// A controller of persons.
    func persons(
        _ format: String? = nil, sort: [String] = ["name"], sections: String? = nil, limit: Int = 0, offset: Int = 0
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        request.fetchLimit = limit
        request.fetchOffset = offset
        return NSFetchedResultsController(fetchRequest: request, managedObjectContext: self, sectionNameKeyPath: sections, cacheName: nil)
    }
}

extension NSFetchedResultsController where ResultType == NSManagedObject {
    var names: [String] { (fetchedObjects ?? []).map { $0.value(forKey: "name") as? String ?? "nil" } }
}
