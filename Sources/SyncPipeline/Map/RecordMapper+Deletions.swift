import JSONReader
import OpenCoreData

/// Records that say that their objects are gone. They are no rows of the page, and are read each time that it comes.
extension RecordMapper {
    /// Takes a record that says that its object is gone: nothing but the key is read of it.
    func addDeletion(_ record: JSONRecord) throws {
        do {
            let key = try entity.key(of: record, constants: constants)
            records.refuse(place)
            gone.insert(key)
            goneVersions[key] = entity.version(of: record)
            recordKeys?.insert(key)
            deletions += 1
            try countObjects(1)
        } catch let problem as ConversionProblem {
            try reject(record, key: nil, problem)
        }
    }

    /// An object that the page lists is there, whatever the page said of it before. Both records have to be read when the page comes next. What a record
    /// only holds is not listed: a record of its own that says that it is gone says more, wherever both stand, on one page or on two.
    func noteListed(_ key: UniqueKey) {
        if gone.remove(key) != nil { records.forgoComparison() }
    }

    /// The rows of the objects that are gone, as far as there are any: none is made to be removed. Those that are newer than the record that says so are
    /// not gone, but listed. To be called once everything is written.
    func goneRows() throws -> (gone: KeyRuns, listed: KeyRuns) {
        guard !gone.isEmpty else { return ([], []) }
        guard let slot = entity.versionSlot else {
            let found = try context.find(entity.entity, constraint: 0, keys: Array(gone))
            return (KeyRuns(found.values.lazy.map(\.id.key)), [])
        }
        let found = try rows(of: entity, Array(gone))
        let listed = found.filter { key, found in goneVersions[key]?.isVersion(before: found.row[slot]) == true }
        return (KeyRuns(found.filter { listed[$0.key] == nil }.values.map { $0.id.key }), KeyRuns(listed.values.map { $0.id.key }))
    }
}

extension EntityMapping {
    /// How new a record is; nil where it does not say it, or nothing that can be read.
    fileprivate func version(of record: JSONRecord) -> AttributeValue? {
        guard let slot = versionSlot, let field = attributes.first(where: { $0.slot == slot }) else { return nil }
        return try? field.value(record[field.field], of: record)
    }
}
