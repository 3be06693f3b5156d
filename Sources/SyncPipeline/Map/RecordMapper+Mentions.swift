import JSONReader

/// Objects that a page mentions beside its records.
extension RecordMapper {
    /// Takes one of them, as if a record held it: its row becomes what is said of it, whoever else says something of it, and the page does not vouch for
    /// it. A bad one is set aside by itself.
    func mention(_ record: JSONRecord, in list: MentionedList) throws {
        (place, self.list) = (record.index, list.path)
        defer { self.list = nil }
        if let problem = record.problem {
            try report(inside: record, ConversionProblem(path: "$", message: "\(problem)"))
            return
        }
        do {
            // Of one of the page's own records the record says what it is, wherever both stand.
            let key = try list.entity.key(of: record, constants: list.constants)
            if list.entity.name == entity.name, recordKeys?.contains(key) == true { return }
            try take(try draft(of: record, list.entity, knowledge: .embedded, constants: list.constants), at: nil)
        } catch let problem as ConversionProblem {
            try report(inside: record, problem)
        }
        if isBatchFull { try flush() }
    }
}
