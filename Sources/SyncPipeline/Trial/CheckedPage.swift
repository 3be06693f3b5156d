import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// A page as the tests look at it: what the pipeline makes of it, and what is wrong with its records, attribute by attribute.
struct CheckedPage: Sendable {
    /// Something that is wrong with records: how many, and the first of them.
    struct Finding: Sendable {
        /// 0-based place in the page.
        let record: Int
        /// What is wrong with it, without secrets, on one line.
        let words: String
        var count = 1
    }

    /// Values that do not fit an attribute.
    struct Misfit: Sendable {
        let attribute: AttributeConfiguration
        var finding: Finding
        /// What would take the value.
        let suggestion: ResourceCheck.Change
    }

    let fetched: FetchedPage
    let list: JSONPageSummary.RecordList
    /// What its records are recognised by that do not say it; nil: they do.
    let derivedKey: EntityConfiguration.DerivedKey?
    /// How many records it has, whether they are wanted or not.
    private(set) var count = 0
    /// How many records say that their objects are gone.
    private(set) var deletions = 0
    /// The keys of the records that are wanted, with their places in the page.
    private(set) var keys: [(record: Int, key: UniqueKey)] = []
    private(set) var keyless: Finding?
    /// Records that cannot be used whatever they say.
    private(set) var broken: Finding?
    private(set) var misfits: [Misfit] = []
    /// What the pipeline makes of it, or why it makes nothing of it.
    private(set) var reading: Result<Reading, any Error> = .failure(SyncError.cancelled)

    struct Reading: Sendable {
        let facts: PageFacts
        /// How many records, and objects inside of them, would be set aside.
        let setAside: Int
        /// Where in its record the first of them has what is wrong.
        let path: String
        /// The rows of its records.
        let members: KeyRuns
    }

    var facts: PageFacts? { try? reading.get().facts }

    /// Reads a page. What it says is saved, in memory, so that there may be parts for its objects.
    ///
    /// - Parameter now: wall time.
    /// - Throws: `JSONReaderError` or `FormatError` for a page whose records cannot be read.
    init(_ fetched: FetchedPage, by recipe: PageRecipe, in document: UIManagedDocument, now: Date) throws {
        guard let entity = recipe.mapping.entities[recipe.resource.entity] else { throw SyncError.unknownEntity(recipe.resource.entity) }
        self.fetched = fetched
        derivedKey = entity.configuration.derivedKey
        let filtered = try RecordFilter(recipe.resource)?.judge(fetched.content, policies: recipe.policies, now: now) { false }
        var scan = Scan(entity: entity, recipe: recipe)
        let summary = try fetched.content.read(plan: entity.plan, policies: recipe.policies) { record, _ in
            let isLeftOut = filtered?.leavesOut(scan.count) == true
            scan.take(record, isLeftOut: isLeftOut)
        }
        list = summary.recordList
        (count, deletions, keys, keyless, broken, misfits) = (scan.count, scan.deletions, scan.keys, scan.keyless, scan.broken, scan.misfits)
        reading = Result { try Self.read(fetched, by: recipe, in: document, now: now) }
    }

    private static func read(_ fetched: FetchedPage, by recipe: PageRecipe, in document: UIManagedDocument, now: Date) throws -> Reading {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        return try worker.performAndWait {
            let reading = try recipe.read(fetched, into: worker, run: 1, now: now, badRecords: 0)
            let mapper = reading.mapper
            try worker.save()
            return Reading(
                facts: reading.facts, setAside: mapper.counts.quarantined, path: mapper.rejected.first?.path ?? "", members: mapper.members)
        }
    }
}

/// Goes over the records of a page.
private struct Scan {
    let entity: EntityMapping
    let recipe: PageRecipe
    var count = 0
    var deletions = 0
    var keys: [(record: Int, key: UniqueKey)] = []
    var keyless: CheckedPage.Finding?
    var broken: CheckedPage.Finding?
    var misfits: [CheckedPage.Misfit] = []

    init(entity: EntityMapping, recipe: PageRecipe) {
        self.entity = entity
        self.recipe = recipe
    }

    mutating func take(_ record: JSONRecord, isLeftOut: Bool) {
        defer { count += 1 }
        if let problem = record.problem {
            note(\.broken, problem.reason)
            return
        }
        if entity.deletionSign?.isMet(by: record) == true {
            deletions += 1
            return
        }
        if isLeftOut { return }
        do {
            keys.append((count, try entity.key(of: record, constants: recipe.constants)))
        } catch {
            note(\.keyless, wordsForKey(of: record))
        }
        for field in entity.attributes where !field.isKey { convert(field, of: record) }
    }

    private mutating func note(_ finding: WritableKeyPath<Scan, CheckedPage.Finding?>, _ words: String) {
        if self[keyPath: finding] == nil {
            self[keyPath: finding] = CheckedPage.Finding(record: count, words: words)
        } else {
            self[keyPath: finding]?.count += 1
        }
    }

    /// Which part of the key is not there, or no value of its type.
    private func wordsForKey(of record: JSONRecord) -> String {
        for field in entity.keyParts.compactMap({ $0.field }) {
            let cell = record[field.field], name = field.conversion.attribute.name, path = field.conversion.path
            if cell.isMissing { return "\(name) is missing at \(path)" }
            if cell.isNil { return "\(name) is null at \(path)" }
            if (try? field.value(cell, of: record)) == nil {
                return "\(name) at \(path) is \(value(of: field, in: record)), which is not of the type \(field.conversion.attribute.type)"
            }
        }
        return "what it is recognised by is not there"
    }

    private mutating func convert(_ field: EntityMapping.AttributeField, of record: JSONRecord) {
        let attribute = field.conversion.attribute, cell = record[field.field]
        let words: String, suggestion: ResourceCheck.Change
        do throws(ConversionProblem) {
            let value = cell.isMissing ? field.fallback : try field.value(cell, of: record)
            guard value.isNull, field.isRequired else { return }
            words = "\(attribute.name) is \(cell.isMissing ? "missing" : "null") at \(field.conversion.path), and optional = false"
            suggestion = ResourceCheck.Change("entity.\(entity.name).attributes.\(attribute.name).optional", "true")
        } catch {
            let wanted = attribute.type == .date ? "date (\(attribute.format))" : "\(attribute.type)"
            words = "\(attribute.name) at \(field.conversion.path) is \(value(of: field, in: record)), and no \(wanted)"
            suggestion = self.suggestion(for: attribute, cell)
        }
        if let place = misfits.firstIndex(where: { $0.attribute.name == attribute.name }) {
            misfits[place].finding.count += 1
        } else {
            misfits.append(
                CheckedPage.Misfit(attribute: attribute, finding: CheckedPage.Finding(record: count, words: words), suggestion: suggestion))
        }
    }

    // MARK: Values

    private static let longestValue = 24
    /// Secrets are looked for in the whole text; a longer one is not shown at all.
    private static let longestSearched = 8192

    /// The value in its JSON text, shortened. A secret is looked for before anything is cut off: half of it would not be found.
    private func value(of field: EntityMapping.AttributeField, in record: JSONRecord) -> String {
        guard let raw = record.rawValue(of: field.field) else { return "a missing value" }
        let name = field.conversion.attribute.name.lowercased()
        let isTelling = ["token", "secret", "password", "passwd", "credential"].contains { name.contains($0) }
        guard !isTelling, raw.utf8Count <= Self.longestSearched else { return "a value of \(raw.utf8Count) bytes" }
        return RemoteText.line(recipe.settings.redactor.redact(String(raw)), limit: Self.longestValue)
    }

    private static let dateFormats: [DateFormat] = [
        .rfc3339, .unix, .unixMilliseconds, .unixMicroseconds, .httpDate, .pattern("%F %T"), .pattern("%F %R"), .pattern("%Y/%m/%d"),
        .pattern("%d.%m.%Y"), .pattern("%d.%m.%Y %R"), .pattern("%Y%m%d"), .pattern("%a %b %d %H:%M:%S %z %Y"), .pattern("%a, %d %b %Y %H:%M:%S %z"),
    ]

    /// From 1990 to 2100, in seconds since 2001: in which unit a number counts shows when it leads there.
    private static let likely = -347_155_200.0...3_124_224_000.0

    private func suggestion(for attribute: AttributeConfiguration, _ cell: JSONCell) -> ResourceCheck.Change {
        let key = "entity.\(entity.name).attributes.\(attribute.name)"
        if attribute.type == .date {
            let format = Self.dateFormats.first { format in
                format != attribute.format && DateConversion.seconds(cell, format: format).map { Self.likely.contains($0) } == true
            }
            if let format { return ResourceCheck.Change("\(key).format", tomlQuoted("\(format)")) }
        }
        let type =
            switch cell {
            case .bool: "bool"
            case .int64: "int64"
            case .double, .bigNumber: "decimal"
            case .string: "string"
            case .missing, .null, .raw, .object, .array: "json"
            }
        return ResourceCheck.Change("\(key).type", tomlQuoted(type))
    }
}
