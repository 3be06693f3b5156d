import JSONReader
import OpenCoreData
import SyncConfiguration

/// A list of a page whose objects are no records of the resource: how they become rows. Compiled once, for an element of `also`.
struct MentionedList: Sendable {
    /// Where it is.
    let path: JSONPath
    /// How an object of it becomes a row. Its own relationships lead to the entities of the mapping that the page's records have.
    let entity: EntityMapping
    /// What is read of an object: what its row is made of and, behind that, what decides whether it is meant.
    let plan: JSONFieldPlan
    /// What an object is told by where it stands.
    let constants: RecordConstants
    private let condition: RecordCondition?
    private let conditionField: Int

    /// - Parameters:
    ///   - entity: that of the objects, as their own records say it.
    ///   - entities: those that are adapted to the resource.
    init(_ mention: MentionConfiguration, of entity: EntityMapping, in resource: ResourceConfiguration, among entities: [String: EntityMapping]) {
        // What is set of the resource's records is not said of other objects of their entity either, as it is where records hold these.
        var names = Set(mention.entity == resource.entity ? resource.assigned.map(\.name) : [])
        if let name = mention.mapKey { names.insert(name) }
        // Where a record says that its object is gone, another object of the entity says it as well.
        let deletion = mention.entity == resource.entity && resource.deletion.condition != nil ? resource.deletion : nil
        let own = EntityMapping(
            entity.configuration.without(names), entity: entity.entity, nameOfRecord: mention.mapKey, deletion: deletion, schema: resource.schema)
        own.connect(entities)
        var constants = RecordConstants()
        if let name = mention.mapKey, let slot = own.layout.slot(of: name), let attribute = own.configuration.attribute(named: name) {
            constants.setName(attribute, slot: slot)
        }
        let fields = own.plan.fields
        conditionField = fields.count
        condition = mention.condition
        plan =
            mention.condition.map {
                JSONFieldPlan(fields + [JSONField("where", path: $0.path)], collectsUnknownKeys: own.collectsUnknownKeys(besides: fields))
            } ?? own.plan
        path = mention.records
        self.entity = own
        self.constants = constants
    }

    /// Whether an object is meant. One that is no good is: then it is said what is wrong with it.
    ///
    /// - Parameter now: in seconds since 2001.
    /// - Throws: where that cannot be told.
    func means(_ record: JSONRecord, at now: Double) throws(ConversionProblem) -> Bool {
        guard let condition, record.problem == nil else { return true }
        return try condition.holds(record[conditionField], now, named: "also.where")
    }
}

extension EntityConfiguration {
    /// The same, whose records say nothing of these properties.
    func without(_ names: Set<String>) -> EntityConfiguration {
        var result = self
        for index in attributes.indices where names.contains(attributes[index].name) { result.attributes[index].isRead = false }
        for index in relationships.indices where names.contains(relationships[index].name) { result.relationships[index].isRead = false }
        return result
    }
}
