/// A channel whose answers come from stores: the coordinator, or a state of the stores that a root context is pinned to.
package protocol StoresChannel: PersistentStoreChannel {
    /// The values of dictionaries where one store is asked and can tell them; nil: they have to be computed from rows.
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]?
}
