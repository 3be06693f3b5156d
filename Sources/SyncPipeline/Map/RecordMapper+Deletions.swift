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

    /// The rows of the objects that are gone, as far as there are any: none is made to be removed. To be called once everything is written.
    func goneRows() throws -> KeyRuns {
        guard !gone.isEmpty else { return [] }
        let found = try context.find(entity.entity, constraint: 0, keys: Array(gone))
        return KeyRuns(found.values.lazy.map(\.id.key))
    }
}
