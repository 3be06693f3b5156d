import Foundation
import OpenCoreData
import Synchronization

/// An atomic store over one file of JSON, written with nothing but the public interface.
// What the file holds is used in the store's methods, which run one at a time; what a test sets is under the lock.
final class ListFileStore: NSAtomicStore, @unchecked Sendable {
    static let storeType = "ListFile"
    static let isRegistered: Void = NSPersistentStoreCoordinator.registerStoreClass(ListFileStore.self, forStoreType: storeType)

    struct Link: Codable, Hashable {
        var entity: String
        var reference: String
    }

    struct Record: Codable {
        var id: Link
        var values: [String: String] = [:]
        var links: [String: [Link]] = [:]
    }

    private struct Content: Codable {
        /// A property list.
        var metadata: Data
        var counter: Int
        var records: [Record]
    }

    private struct Control: Sendable {
        var calls: [String] = []
        var failure: (any Error)?
        var reference: String?
    }

    private var counter = 0
    private let control = Mutex(Control())

    func fail(_ error: (any Error)?) { control.withLock { $0.failure = error } }
    /// The reference of the next new object, in place of a counted one.
    func giveNext(_ reference: String) { control.withLock { $0.reference = reference } }
    /// What the store was asked since the last call.
    func calls() -> [String] {
        control.withLock { control in
            defer { control.calls = [] }
            return control.calls
        }
    }

    private func note(_ call: String) { control.withLock { $0.calls.append(call) } }

    override func load() throws {
        guard let url, let data = try? Data(contentsOf: url), !data.isEmpty else { return try super.load() }
        let content = try JSONDecoder().decode(Content.self, from: data)
        metadata = try PropertyListSerialization.propertyList(from: content.metadata, options: [], format: nil) as? [String: Any]
        counter = content.counter
        let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        var made: [Link: NSAtomicStoreCacheNode] = [:]
        for record in content.records {
            guard let entity = entities[record.id.entity] else { throw CocoaError(.fileReadCorruptFile) }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: record.id.reference))
            for (name, value) in record.values { node.setValue(value, forKey: name) }
            made[record.id] = node
        }
        for record in content.records {
            guard let node = made[record.id] else { continue }
            for (name, links) in record.links {
                let relationship = node.objectID.entity.relationshipsByName[name], targets = links.compactMap { made[$0] }
                node.setValue(
                    relationship?.isToMany != true ? targets.first : relationship?.isOrdered == true ? targets as Any : Set(targets) as Any,
                    forKey: name)
            }
        }
        addCacheNodes(Set(made.values))
    }

    private func link(_ id: NSManagedObjectID) -> Link { Link(entity: id.entity.name ?? "", reference: "\(referenceObject(for: id))") }

    override func save() throws {
        note("save")
        if let failure = control.withLock({ $0.failure }) { throw failure }
        guard let url else { return }
        let records = cacheNodes().map { node in
            var record = Record(id: link(node.objectID))
            for (name, property) in node.objectID.entity.propertiesByName {
                if property is NSAttributeDescription {
                    record.values[name] = node.value(forKey: name) as? String
                } else {
                    let nodes: [NSAtomicStoreCacheNode] =
                        switch node.value(forKey: name) {
                        case let one as NSAtomicStoreCacheNode: [one]
                        case let set as Set<NSAtomicStoreCacheNode>: Array(set)
                        case let list as [NSAtomicStoreCacheNode]: list
                        default: []
                        }
                    if !nodes.isEmpty { record.links[name] = nodes.map { link($0.objectID) } }
                }
            }
            return record
        }
        let list = try PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .xml, options: 0)
        try JSONEncoder().encode(Content(metadata: list, counter: counter, records: records)).write(to: url, options: .atomic)
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        note("reference of \(managedObject.entity.name ?? "")")
        if let given = control.withLock({ $0.reference.take() }) { return given }
        counter += 1
        return "n\(counter)"
    }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        note("node of \(managedObject.entity.name ?? "")")
        return super.newCacheNode(for: managedObject)
    }

    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        note("update \(managedObject.entity.name ?? "")")
        super.updateCacheNode(node, from: managedObject)
    }

    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { note("remove \(cacheNodes.count)") }
}
