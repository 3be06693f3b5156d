/// Answers what one store holds: now, or at a moment in the past. Every method may be called from any thread.
package protocol StoreReading: AnyObject, Sendable {
    /// The objects that match, in order, windowed by the plan's offset and limit. Rows included where the plan asks for them.
    /// Throws 134060 for a predicate that the store cannot express.
    func fetch(_ plan: FetchPlan) throws -> [FetchedRow]
    /// How many objects match.
    func count(_ plan: FetchPlan) throws -> Int
    /// The values of dictionaries, in the order of the columns; nil where the store can't compute them, so that they are computed from rows.
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]?
    /// The rows of these IDs; those that are gone are left out.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]
    /// The members of a to-many, in order if it is ordered.
    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID]
    /// The members of many to-manys with their rows, each in order if it is ordered: asked once a relationship, not once a key, where the store can
    /// do that. Keys without members may be left out.
    func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]]
    /// Which objects have these keys, for the constraint of that number in the entity's layout. One query however many keys.
    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow]
}
