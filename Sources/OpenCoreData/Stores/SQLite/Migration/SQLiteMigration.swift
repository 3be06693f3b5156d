import Foundation
import GRDB

/// Brings a file to another version of the model, where it stands and in one transaction: a reader sees the old store or the new one, and so does
/// whoever finds the file after the process or the machine went down.
struct SQLiteMigration {
    let url: URL
    /// What the file says of itself, read in the same transaction.
    let probe: SQLiteStoreOpening.Probe
    /// What the file's own model says that it keeps.
    let source: SQLiteStoreOpening.SourceModel
    let entities: [NSEntityDescription]
    let model: NSManagedObjectModel?
    let sumsRows: Bool
    var watch: MigrationWatch?

    /// Inside a transaction.
    func run(in database: Database) throws {
        guard let progress = MigrationProgress(watch, in: database) else { return try run(in: database, nil) }
        do {
            try progress.following { try run(in: database, progress) }
        } catch  where progress.isGivenUp {
            throw MigrationWatch.givenUp("The migration of \(url.path)")
        }
        progress.ends()
    }

    private func run(in database: Database, _ progress: MigrationProgress?) throws {
        var metadata = probe.metadata
        let steps = try checked(&metadata, in: database).schema, views = steps.new.views(),
            own = Set(SQLiteStoreOpening.viewNames(in: metadata) + views.map(\.name))
        for name in own.sorted() { try database.execute(sql: "DROP VIEW IF EXISTS \(name.sqlName)") }
        let others = try OthersObjects(besides: steps, in: database)
        try others.takeOut(in: database)
        try progress?.expect(steps.works, in: database)
        try carryOut(steps.steps, in: database, progress)
        try bringHistory(steps, in: database)
        // What they are derived from may be another thing now.
        let derivations = try Derivation.all(in: steps.new)
        do {
            try SQLiteDerivations(derivations, in: steps.new).settleAll(in: database)
        } catch {
            guard let sentence = SQLiteError(in: error)?.ownSentence else { throw error }
            let end = ". Nothing was written."
            throw refusal(.migration, sentence.hasSuffix(end) ? String(sentence.dropLast(end.count)) : sentence)
        }
        for view in views { try database.execute(sql: view.sql) }
        try others.putBack(in: database) { refusal(.migration, $0) }
        metadata[StoreMetadataCoding.viewsKey] = SQLiteStoreOpening.viewsMark(views)
        metadata[StoreMetadataCoding.derivationsKey] = SQLiteDerivations.mark(derivations)
        if StoreMetadataCoding.hashes(of: entities) != metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] {
            metadata[StoreMetadataCoding.migrationsKey] = StoreMetadataCoding.migrations(metadata) + 1
        }
        StoreMetadataCoding.stamp(&metadata, entities: entities, model: model)
        try database.run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(try StoreMetadataCoding.data(metadata))])
        try Self.write(ModelArchive(entities), in: database)
    }

    /// Notes the model that the file is of.
    static func write(_ archive: ModelArchive, in database: Database) throws {
        try database.execute(sql: "DELETE FROM Z_MODELCACHE")
        try database.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(try archive.encoded())])
    }

    /// What changes, and the statements for it; nothing is done yet. Throws what stands against it.
    func checked(_ metadata: inout [String: Any], in database: Database) throws -> (model: ModelChange, schema: SchemaChange) {
        let change = try ModelChange(from: source.entities, to: entities, looksAtObjects: true)
        let old = try SchemaBuilder.schema(for: source.entities, in: SQLiteDialect(), known: probe.numbers) { probe.summedTables.contains($0) }
        let missing = try old.missing(in: database)
        if !missing.isEmpty { throw refusal(.migration, "it lacks what its own model says: \(missing.prefix(10).joined(separator: ", "))") }
        let steps = try SchemaChange(
            from: old, to: try newSchema(change, old), change, largestKeys: probe.largestKeys, formerKeys: keepKeys(&metadata, change))
        try carryOut(steps.requirements, in: database)
        return (change, steps)
    }

    private func carryOut(_ steps: [SchemaChange.Step], in database: Database, _ progress: MigrationProgress? = nil) throws {
        for step in steps {
            switch step {
            case .run(let sql, let work):
                try progress?.begins(work)
                try database.execute(sql: sql)
            case .refuse(let code, let query, let sentence):
                if let count = try database.integer(query), count > 0 { throw refusal(code, sentence(count)) }
            }
        }
    }

    private func refusal(_ code: CocoaError.Code, _ reason: String) -> NSError {
        .coreData(code, "\(url.path) can't be migrated: \(reason). Nothing was changed.", userInfo: ["reason": reason])
    }

    // MARK: Numbers

    /// The new tables. An entity keeps its number, which stands in every row; a new one gets the next.
    private func newSchema(_ change: ModelChange, _ old: SQLSchema) throws -> SQLSchema {
        var numbers: [String: Int64] = [:], next = (probe.numbers.values.max() ?? 0) + 1, summed = probe.summedTables
        for entity in change.entities {
            guard let source = entity.source, let destination = entity.destination, let known = probe.numbers[source.name ?? ""] else { continue }
            numbers[destination.name ?? ""] = known
            if let map = old[source], old.tables[map.table].sum != nil { summed.insert("Z" + (destination.rootEntity.name ?? "").uppercased()) }
        }
        for entity in Set(entities.map(\.rootEntity)).flatMap(\.withDescendants).sorted(by: { $0.number < $1.number }) {
            let name = entity.name ?? ""
            guard numbers[name] == nil else { continue }
            guard next < SQLiteHistoryTables.firstNumber else { throw refusal(.migration, "it has no number left for the entity \(name)") }
            numbers[name] = next
            next += 1
        }
        return try SchemaBuilder.schema(for: entities, in: SQLiteDialect(), known: numbers) { sumsRows || summed.contains($0) }
    }

    /// Notes how far the keys of a tree went that is no more, and takes out those of trees that are there again.
    ///
    /// - Returns: where new trees begin, by name of their root.
    private func keepKeys(_ metadata: inout [String: Any], _ change: ModelChange) -> [String: Int64] {
        var former = (metadata[StoreMetadataCoding.formerKeysKey] as? [String: Any] ?? [:]).compactMapValues { ($0 as? NSNumber)?.int64Value }
        let known = former
        for entity in change.entities where entity.destination == nil {
            guard let source = entity.source, source.superentity == nil, let name = source.name, let number = probe.numbers[name] else { continue }
            former[name] = max(former[name] ?? 0, probe.largestKeys[number] ?? 0)
        }
        for entity in entities where entity.superentity == nil { former[entity.name ?? ""] = nil }
        metadata[StoreMetadataCoding.formerKeysKey] = former.isEmpty ? nil : former.mapValues { NSNumber(value: $0) }
        return known
    }

    // MARK: History

    /// What the history tells of objects, under the numbers, keys and names that they have now.
    private func bringHistory(_ steps: SchemaChange, in database: Database) throws {
        guard try SQLiteHistoryTables.exist(in: database) else { return }
        for map in steps.old.entities where steps.successors[map.number] == nil {
            try database.run("DELETE FROM ACHANGE WHERE ZENTITY = ?", [.integer(map.number)])
        }
        for pair in steps.pairs {
            let shift = steps.shift(pair.old.table, pair.new.table)
            if shift != 0 {
                try database.run("UPDATE ACHANGE SET ZENTITYPK = ZENTITYPK + ? WHERE ZENTITY = ?", [.integer(shift), .integer(pair.old.number)])
            }
            try renameHistory(of: pair, in: database)
        }
    }

    private func renameHistory(of pair: SchemaChange.Pair, in database: Database) throws {
        var renamed: [String: String] = [:]
        for attribute in pair.change.attributes { if let source = attribute.source { renamed[source.name] = attribute.destination.name } }
        for relationship in pair.change.relationships { if let source = relationship.source { renamed[source.name] = relationship.destination.name } }
        if renamed.allSatisfy({ $0.key == $0.value }) { return }
        guard try SQLiteHistoryTables.columns(of: SQLiteHistoryTables.changes, in: database).contains("ZNAMESTS") else { return }
        let used = try Row.fetchAll(
            database,
            sql: "SELECT s.Z_PK, s.ZNAME FROM ATRANSACTIONSTRING AS s WHERE s.Z_PK IN (SELECT ZNAMESTS FROM ACHANGE WHERE ZENTITY = ?)",
            arguments: [pair.old.number])
        for row in used {
            let number: Int64 = row[0], text: String = row[1]
            let names = text.split(separator: ",").map { renamed[String($0)] ?? String($0) }.joined(separator: ",")
            if names == text { continue }
            try database.run(
                "INSERT OR IGNORE INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_MAX + 1, Z_ENT, 1, ? FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
                [.text(names), .integer(SQLiteHistoryTables.stringNumber)])
            try database.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, (SELECT max(Z_PK) FROM ATRANSACTIONSTRING)) WHERE Z_ENT = ?",
                [.integer(SQLiteHistoryTables.stringNumber)])
            try database.run(
                "UPDATE ACHANGE SET ZNAMESTS = -(SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?) WHERE ZENTITY = ? AND ZNAMESTS = ?",
                [.text(names), .integer(pair.old.number), .integer(number)])
        }
        // Names that were exchanged are not exchanged back.
        try database.run("UPDATE ACHANGE SET ZNAMESTS = -ZNAMESTS WHERE ZENTITY = ? AND ZNAMESTS < 0", [.integer(pair.old.number)])
    }
}
