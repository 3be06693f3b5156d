import Foundation
import OpenCoreData
import Synchronization

/// An incremental store over one JSON file, written with nothing but the public interface.
// What the file holds is used in the store's methods, which run one at a time; what a test reads or sets is under the lock.
final class JSONFileStore: NSIncrementalStore, @unchecked Sendable {
    static let storeType = "JSONFile"
    /// Option: what references are, `"string"` (at first), `"number"` or `"data"`.
    static let referencesOption = "JSONFileStore.references"
    /// Option: nodes are without their to-ones.
    static let omitsToOnesOption = "JSONFileStore.omitsToOnes"

    static let isRegistered: Void = NSPersistentStoreCoordinator.registerStoreClass(JSONFileStore.self, forStoreType: storeType)

    struct Link: Codable, Hashable {
        var entity: String
        var reference: String
    }

    enum Scalar: Codable, Hashable {
        case text(String)
        case integer(Int64)
        case real(Double)
    }

    struct Record: Codable {
        var version: UInt64
        var values: [String: Scalar] = [:]
        var ones: [String: Link] = [:]
        var manys: [String: [Link]] = [:]
    }

    private struct Content: Codable {
        /// A property list.
        var metadata = Data()
        var counter = 0
        /// By entity and reference.
        var records: [String: [String: Record]] = [:]
    }

    private struct Control: Sendable {
        var calls: [String] = []
        var saveFailures: [any Error] = []
        var readFailures: [any Error] = []
        var obtain: (@Sendable (JSONFileStore, [NSManagedObject]) throws -> [NSManagedObjectID])?
        var references: [String] = []
        var registrations: [String] = []
    }

    private var content = Content()
    private let control = Mutex(Control())

    // MARK: For tests

    /// What the store was asked since the last call.
    func calls() -> [String] {
        control.withLock { control in
            defer { control.calls = [] }
            return control.calls
        }
    }

    /// What the store was told about the objects of contexts since the last call.
    func told() -> [String] {
        control.withLock { control in
            defer { control.registrations = [] }
            return control.registrations
        }
    }

    func failSaves(_ errors: any Error...) { control.withLock { $0.saveFailures = errors } }
    func failReads(_ errors: any Error...) { control.withLock { $0.readFailures = errors } }

    /// Gives IDs in another way than by counting.
    func obtain(_ body: @escaping @Sendable (JSONFileStore, [NSManagedObject]) throws -> [NSManagedObjectID]) {
        control.withLock { $0.obtain = body }
    }

    /// The references of the next new objects, in place of counted ones.
    func give(_ references: String...) { control.withLock { $0.references = references } }

    /// Changes a value behind the back of all contexts.
    func change(_ entity: String, _ reference: String, _ key: String, to text: String) {
        content.records[entity]?[reference]?.values[key] = .text(text)
        content.records[entity]?[reference]?.version += 1
    }

    /// Removes an object behind the back of all contexts.
    func remove(_ entity: String, _ reference: String) { content.records[entity]?[reference] = nil }

    /// What there is of an entity, by reference.
    func lines(_ entity: String) -> [String: String] {
        (content.records[entity] ?? [:]).mapValues { record in
            let manys = record.manys.mapValues { $0.map(\.reference).sorted() }.sorted { $0.key < $1.key }
            return "v\(record.version) \(record.values.sorted { $0.key < $1.key }) \(manys)"
        }
    }

    private func note(_ call: String) { control.withLock { $0.calls.append(call) } }

    // MARK: Opening

    override func loadMetadata() throws {
        guard let url, let data = try? Data(contentsOf: url), !data.isEmpty else {
            metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: Self.identifierForNewStore(at: url ?? URL(fileURLWithPath: "/"))]
            return
        }
        content = try JSONDecoder().decode(Content.self, from: data)
        metadata = try PropertyListSerialization.propertyList(from: content.metadata, options: [], format: nil) as? [String: Any] ?? [:]
    }

    private func write(_ changed: Content) throws {
        guard let url else { return }
        var written = changed
        written.metadata = try PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .xml, options: 0)
        try JSONEncoder().encode(written).write(to: url, options: .atomic)
        content = written
    }

    // MARK: Identities

    private func reference(_ text: String) -> Any {
        switch options?[Self.referencesOption] as? String {
        case "number": Int(text) ?? 0
        case "data": Data(text.utf8)
        default: text
        }
    }

    private func text(_ id: NSManagedObjectID) -> String {
        switch referenceObject(for: id) {
        case let text as String: text
        case let number as NSNumber: "\(number.intValue)"
        case let data as Data: String(decoding: data, as: UTF8.self)
        case let other: "\(other)"
        }
    }

    private func id(_ link: Link) -> NSManagedObjectID? {
        guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[link.entity] else { return nil }
        return newObjectID(for: entity, referenceObject: reference(link.reference))
    }

    private func link(_ id: NSManagedObjectID) -> Link { Link(entity: id.entity.name ?? "", reference: text(id)) }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        note("obtain \(array.count)")
        if let obtain = control.withLock({ $0.obtain }) { return try obtain(self, array) }
        return array.map { object in
            let given = control.withLock { $0.references.isEmpty ? nil : $0.references.removeFirst() }
            content.counter += 1
            return newObjectID(for: object.entity, referenceObject: given ?? reference("\(content.counter)"))
        }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        let texts = objectIDs.map(text)
        control.withLock { $0.registrations += texts.map { "register \($0)" } }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        let texts = objectIDs.map(text)
        control.withLock { $0.registrations += texts.map { "unregister \($0)" } }
    }

    // MARK: Requests

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let context else { throw CocoaError(.coreData) }
        switch request {
        case let request as NSSaveChangesRequest:
            try save(request)
            return [Any]()
        case let request as NSFetchRequest<any NSFetchRequestResult>: return try found(request, context)
        default: return try super.execute(request, with: context)
        }
    }

    private func found(_ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext) throws -> Any {
        try failIfWanted(\.readFailures)
        guard let entity = request.entity else { throw CocoaError(.coreData) }
        note("fetch \(entity.name ?? "?") type \(request.resultType.rawValue) limit \(request.fetchLimit) offset \(request.fetchOffset)")
        var entities = [entity]
        if request.includesSubentities { entities += entity.subentities }
        var objects = entities.flatMap { entity in
            (content.records[entity.name ?? ""] ?? [:]).keys.sorted().compactMap { id(Link(entity: entity.name ?? "", reference: $0)) }
        }.map { context.object(with: $0) }
        if let predicate = request.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
        for descriptor in (request.sortDescriptors ?? []).reversed() {
            objects = objects.enumerated().sorted { left, right in
                let order = descriptor.compare(left.element, to: right.element)
                return order == .orderedAscending || (order == .orderedSame && left.offset < right.offset)
            }.map(\.element)
        }
        objects = Array(objects.dropFirst(request.fetchOffset))
        if request.fetchLimit > 0 { objects = Array(objects.prefix(request.fetchLimit)) }
        if request.resultType == .countResultType { return [NSNumber(value: objects.count)] }
        if request.resultType == .managedObjectIDResultType { return objects.map(\.objectID) }
        return objects
    }

    private func failIfWanted(_ failures: any WritableKeyPath<Control, [any Error]> & Sendable) throws {
        try control.withLock { control in
            if !control[keyPath: failures].isEmpty { throw control[keyPath: failures].removeFirst() }
        }
    }

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        note("values \(text(objectID))")
        try failIfWanted(\.readFailures)
        guard let record = content.records[objectID.entity.name ?? ""]?[text(objectID)] else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        var values: [String: Any] = [:]
        for (key, value) in record.values {
            switch value {
            case .text(let text): values[key] = text
            case .integer(let integer): values[key] = integer
            case .real(let real): values[key] = real
            }
        }
        if options?[Self.omitsToOnesOption] == nil {
            for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
                values[name] = record.ones[name].flatMap(id) ?? NSNull()
            }
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
    ) throws -> Any {
        note("\(relationship.name) of \(text(objectID))")
        try failIfWanted(\.readFailures)
        let owner = link(objectID)
        guard let record = content.records[owner.entity]?[owner.reference] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        if !relationship.isToMany { return record.ones[relationship.name].flatMap(id) ?? NSNull() }
        if relationship.isOrdered || relationship.inverseRelationship?.isToMany ?? true {
            return (record.manys[relationship.name] ?? []).compactMap(id)
        }
        guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity else { return [Any]() }
        return ([destination] + destination.subentities).flatMap { entity in
            (content.records[entity.name ?? ""] ?? [:]).filter { $0.value.ones[inverse.name] == owner }.keys.sorted()
                .compactMap { id(Link(entity: entity.name ?? "", reference: $0)) }
        }
    }

    // MARK: Saving

    private func save(_ request: NSSaveChangesRequest) throws {
        guard let inserted = request.insertedObjects, let updated = request.updatedObjects, let deleted = request.deletedObjects else {
            note("save metadata")
            try failIfWanted(\.saveFailures)
            return try write(content)
        }
        note("save +\(inserted.count) ~\(updated.count) -\(deleted.count) locked \(request.lockedObjects?.count ?? 0)")
        var changed = content
        for object in inserted {
            var record = Record(version: 1)
            for name in object.entity.propertiesByName.keys { take(name, from: object, into: &record) }
            let link = link(object.objectID)
            if object.objectID.isTemporaryID { throw CocoaError(.persistentStoreSave) }
            changed.records[link.entity, default: [:]][link.reference] = record
        }
        for object in updated {
            let link = link(object.objectID)
            guard var record = changed.records[link.entity]?[link.reference] else { throw CocoaError(.managedObjectReferentialIntegrity) }
            for name in object.changedValues().keys {
                note("changed \(name)")
                take(name, from: object, into: &record)
            }
            record.version += 1
            changed.records[link.entity]?[link.reference] = record
        }
        for object in deleted {
            let link = link(object.objectID)
            changed.records[link.entity]?[link.reference] = nil
            for (entity, records) in changed.records {
                for (reference, record) in records {
                    let kept = record.manys.mapValues { $0.filter { $0 != link } }
                    if kept != record.manys { changed.records[entity]?[reference]?.manys = kept }
                }
            }
        }
        try failIfWanted(\.saveFailures)
        try write(changed)
    }

    private func take(_ name: String, from object: NSManagedObject, into record: inout Record) {
        switch object.entity.propertiesByName[name] {
        case let relationship as NSRelationshipDescription:
            let links = object.objectIDs(forRelationshipNamed: name).map(link)
            if !relationship.isToMany {
                record.ones[name] = links.first
            } else if relationship.isOrdered || relationship.inverseRelationship?.isToMany ?? true {
                record.manys[name] = links
            }
        case let attribute as NSAttributeDescription where !attribute.isTransient:
            switch object.value(forKey: name) {
            case let text as String: record.values[name] = .text(text)
            case let number as NSNumber where attribute.attributeType == .doubleAttributeType: record.values[name] = .real(number.doubleValue)
            case let number as NSNumber: record.values[name] = .integer(number.int64Value)
            default: record.values[name] = nil
            }
        default: break
        }
    }
}
