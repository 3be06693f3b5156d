import JSONReader
import OpenCoreData
import SyncConfiguration

/// What of `schema` decides what records become.
extension SchemaConfiguration {
    /// Different where pages are to be read again; nil: all is as it is built in.
    var rules: String? {
        let unknown = unknownFields == .ignore ? nil : "unknown \(unknownFields)"
        return values == nil && unknown == nil ? nil : [values, unknown].compactMap { $0 }.joined(separator: " ")
    }

    /// Different where records become something else; nil: all is as it is built in.
    private var values: String? {
        let builtIn = SchemaConfiguration()
        if missingField == builtIn.missingField, typeMismatch == builtIn.typeMismatch, coercion == builtIn.coercion { return nil }
        return "schema \(missingField) \(typeMismatch) \(coercion)"
    }

    /// Goes into every record's hash; 0: records become what they do as it is built in.
    var salt: UInt64 {
        values.map { BodyDigest(of: $0).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } } ?? 0
    }
}

/// A record fails its page, because the configuration says so.
struct RecordFailure: Error, Sendable, CustomStringConvertible {
    /// Which record it is, what is wrong where, and which setting says that it is not only set aside. With values of the record.
    let description: String
}

/// What records of a page say that does not match the model, and is not set aside.
struct PageMismatches: Sendable {
    /// Values of an attribute that are none, since they were of another type (`schema.type_mismatch`).
    struct NulledValues: Sendable {
        var count: Int
        /// What the first of them was.
        let first: String
    }

    /// By entity and attribute: `Person.age`.
    var nulled: [String: NulledValues] = [:]
    /// What nothing is made of (`schema.unknown_fields`), by entity and member: the first of it.
    var unknown: [String] = []
    /// How many names of members that nothing is made of are told in a run.
    static let mostUnknown = 10
    static let longestName = 80
}

extension RecordMapper {
    /// Throws `RecordFailure` where it is configured that a record with this problem is not only set aside.
    func judge(_ problem: ConversionProblem) throws {
        let setting: String
        if problem.isMissing {
            setting = "missing_field"
        } else if problem.isMismatch, entity.schema.typeMismatch == .fail {
            setting = "type_mismatch"
        } else {
            return
        }
        let list = self.list.map { " in \($0)" } ?? ""
        throw RecordFailure(description: "record \(place)\(list), \(problem.path): \(problem.message) (schema.\(setting) = \"fail\")")
    }

    /// Takes in what a record or an object says that nothing is made of. Throws `RecordFailure` where that fails the page.
    func noteUnknown(of record: JSONRecord, _ mapping: EntityMapping) throws {
        let rule = mapping.schema.unknownFields
        guard rule != .ignore, rule == .fail || mismatches.unknown.count < PageMismatches.mostUnknown else { return }
        for cell in record.unknownKeys {
            guard let key = cell.stringValue, !mapping.keysOfOthers.contains(key) else { continue }
            let name = "\(mapping.name).\(key.prefix(PageMismatches.longestName))"
            if rule == .fail {
                throw RecordFailure(description: "record \(place): nothing is made of \(name) (schema.unknown_fields = \"fail\")")
            }
            if mismatches.unknown.count < PageMismatches.mostUnknown, !mismatches.unknown.contains(name) { mismatches.unknown.append(name) }
        }
    }

    /// Takes in which values of a record or of an object are none, since they were of another type.
    func note(_ found: [Draft.Mismatch]) {
        for value in found { mismatches.nulled[value.attribute, default: .init(count: 0, first: redacted(value.problem).message)].count += 1 }
    }

    /// Without the secrets that a server has sent back: what is told of a problem is stored and shown.
    func redacted(_ problem: ConversionProblem) -> ConversionProblem { redactor.map { problem.redacted(by: $0) } ?? problem }
}

extension JSONPath {
    /// The member of the record that it begins with; nil: any, or the record itself.
    var firstKey: String? {
        if case .key(let key)? = segments.first { key } else { nil }
    }
}

extension ResourceConfiguration {
    /// The members of its records that are read for something else than to make rows of them.
    var keysOfOthers: Set<String> {
        let paths = filter.map(\.path) + [incremental?.field, pagination.kind.lastRecordPath].compactMap { $0 }
        return Set(paths.compactMap(\.firstKey))
    }
}

extension EntityMapping {
    /// Whether it is noted what a record says and no field begins with: not where the record itself is a value, since nothing of it is unknown then.
    func collectsUnknownKeys(besides fields: [JSONField]) -> Bool {
        schema.unknownFields != .ignore && !fields.contains { $0.paths.contains { $0.firstKey == nil } }
    }

    /// The value of an attribute.
    ///
    /// - Parameters:
    ///   - cell: what a record says of it, or does not.
    ///   - mismatches: gets it if it is none, since it was of another type.
    /// - Returns: nil: nothing is said.
    func value(
        of field: AttributeField, _ cell: JSONCell, in record: JSONRecord, knowledge: Draft.Knowledge, noting mismatches: inout [Draft.Mismatch]
    ) throws(ConversionProblem) -> AttributeValue? {
        var value: AttributeValue
        if cell.isMissing {
            // An embedded object may be a short form of its record: what it leaves out is not null.
            if knowledge != .record { return nil }
            switch schema.missingField {
            case .null, .default: break
            // Without a value there would be no row.
            // Nor is the row any longer what the record was that it had its version from.
            case .keep: if field.slot != versionSlot, !(field.isRequired && field.fallback.isNull) { return nil }
            case .fail:
                if field.fallback.isNull {
                    throw ConversionProblem(
                        path: field.conversion.path, message: "\(name) has no \(field.conversion.attribute.name)", isMissing: true)
                }
            }
            value = field.fallback
        } else {
            do {
                value = try field.value(cell, of: record)
            } catch {
                guard schema.typeMismatch == .null, error.isMismatch, !field.isRequired, !field.isKey else { throw error }
                mismatches.append(Draft.Mismatch(attribute: "\(name).\(field.conversion.attribute.name)", problem: error))
                value = .null
            }
            if value.isNull, schema.missingField == .default, !field.isKey { value = field.fallback }
        }
        if value.isNull && field.isRequired {
            throw ConversionProblem(
                path: field.conversion.path,
                message: "\(name).\(field.conversion.attribute.name) is required and \(cell.isMissing ? "missing" : "null")")
        }
        return value
    }
}
