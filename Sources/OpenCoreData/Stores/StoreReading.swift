/// Answers what one store holds: now, or at a moment in the past. Every method may be called from any thread; `NSPersistentStore` says what they mean.
package protocol StoreReading: AnyObject, Sendable {
    func fetch(_ plan: FetchPlan) throws -> [FetchedRow]
    func count(_ plan: FetchPlan) throws -> Int
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]?
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]
    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID]
    func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]]
    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow]
}

extension NSPersistentStore: StoreReading {}
