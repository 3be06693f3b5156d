import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration
import SyncReports

/// What the objects of all records of a listing have, whatever the records say: what `set` says of the part that the listing is, and which attribute is
/// a record's name.
struct RecordConstants: Sendable {
    /// Values of attributes, by slot.
    private(set) var values: [Int: AttributeValue] = [:]
    /// The objects that to-ones lead to, by slot.
    private(set) var targets: [Int: RecordPacker.Target] = [:]
    /// The attribute that is the name under which a record stands; nil: names mean nothing.
    private(set) var name: RecordName?
    /// The slots of all of these.
    private(set) var slots = SlotSet()
    private var salt: UInt64 = 0
    /// All of it as text, for fingerprints; empty: there is none.
    private(set) var description = ""
    /// Which part's records they are: those of two parts are two rows, also where they say the same.
    private(set) var part = ""

    /// Sets what records of the entity are recognised by that do not say it.
    ///
    /// - Parameter scope: that of their listing.
    mutating func setKey(of entity: EntityMapping, in scope: ResourceScope) {
        part = scope.partition ?? ""
        if entity.configuration.derivedKey == .single, let slot = entity.keyParts.first?.slot { set(slot, to: .string("\(scope)")) }
    }

    mutating func set(_ slot: Int, to value: AttributeValue) {
        values[slot] = value
        note(slot, "\(value.plain.map { "\($0)" } ?? "nothing")")
    }

    mutating func set(_ slot: Int, to target: RecordPacker.Target) {
        targets[slot] = target
        note(slot, "\(target.mapping.name) \(target.key.values.map { "\($0.plain.map { "\($0)" } ?? "nothing")" })")
    }

    mutating func setName(_ attribute: AttributeConfiguration, slot: Int) {
        name = RecordName(slot: slot, attribute: attribute)
        note(slot, "the name")
    }

    /// Goes into a record's hash: the same text in another part, or under another name, is another row. 0: there is nothing but the text.
    func salt(of record: JSONRecord) -> UInt64 { salt ^ (name?.hash(of: record) ?? 0) }

    private mutating func note(_ slot: Int, _ what: String) {
        slots.insert(slot)
        description += "\(slot) \(what)\n"
        salt = BodyDigest(of: description).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension AttributeConfiguration {
    /// The value that a text is, as a record's text would be.
    func value(of text: String) throws -> AttributeValue {
        let plan = JSONFieldPlan([JSONField(name, path: JSONPath(keys: ["value"]))]), conversion = ValueConversion(attribute: self, path: name)
        var result: Result<AttributeValue, ConversionProblem>?
        _ = try JSONRecordReader().read(
            body: Array(JSONEncoder().encode([["value": text]])), plan: plan
        ) { record in
            result = Result { () throws(ConversionProblem) in try conversion.value(record[0]) }
        }
        guard let value = try result?.get() else { throw ConversionProblem(path: name, message: "\(name) cannot be set to \(text)") }
        return value
    }
}
