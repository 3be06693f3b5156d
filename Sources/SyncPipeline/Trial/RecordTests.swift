import JSONReader
import OpenCoreData
import SyncConfiguration

/// What the records of the first page say of the configuration.
struct RecordTests {
    let page: CheckedPage
    let resource: ResourceConfiguration
    let redactor: Redactor

    var all: [ResourceCheck.Test] { [givesARecord, keysPresent, keysUnique, datesParse] }

    /// How many records are expected to say something.
    private var wanted: Int { page.keys.count + (page.keyless?.count ?? 0) }

    /// The key of the entity, as it is written.
    private var keyName: String { "entity.\(resource.entity).key" }

    private var keyNames: String {
        page.derivedKey.map { "key = \"\($0.rawValue)\"" } ?? resource.key.joined(separator: ", ")
    }

    /// What is wrong with a page, in words that hold nothing of its content.
    static func words(_ error: any Error, _ redactor: Redactor) -> String {
        if let error = error as? JSONReaderError { return "\(error.message), at \(error.location)" }
        return RemoteText.line(redactor.redact(error.inWords), limit: 300)
    }

    /// `gives-a-record` of a page that cannot be read.
    static func unreadable(_ error: any Error, of resource: ResourceConfiguration, _ redactor: Redactor) -> ResourceCheck.Test {
        let words = words(error, redactor)
        let change: ResourceCheck.Change =
            switch (error as? JSONReaderError)?.kind {
            case .recordsMissing?, .recordsNotAList?, .ambiguousEnvelope?: ResourceCheck.Change("records", "the path of the list in the answer")
            case .limit(let limit)?: ResourceCheck.Change("limits.\(limit.name.rawValue)", "a larger number, if the answer is one that is meant")
            case .invalidUTF8?: ResourceCheck.Change("parse.invalid_utf8", "\"replace\"")
            case .emptyBody?: ResourceCheck.Change("parse.empty_body", "\"no-records\", if that means that there is nothing")
            case .encoding?, .syntax?, .trailingData?, .outOfMemory?, nil: ResourceCheck.Change("format", "what the service really sends")
            }
        return .failed(.givesARecord, words, .answer, change)
    }

    private var givesARecord: ResourceCheck.Test {
        let place = resource.records.map { "at \($0)" } ?? "in the answer"
        let change = ResourceCheck.Change("records", "the path of the list in the answer")
        switch page.list {
        case .absent: return .failed(.givesARecord, "there is no list \(place)", .answer, change)
        case .emptyBody: return .warned(.givesARecord, "the answer has no body", nil)
        case .null: return .warned(.givesARecord, "there is null \(place), and no list", change)
        case .singleObject where resource.records == nil:
            return .failed(
                .givesARecord, "the answer is an object, and no list", .answer,
                ResourceCheck.Change("records", "the path of the list in it, or \"$\" if the object is the record"))
        case .array, .singleObject: break
        }
        if page.count == 0 { return .warned(.givesARecord, "the list \(place) is empty", nil) }
        let count = "\(page.count) \(page.count == 1 ? "record" : "records")"
        if let broken = page.broken, broken.count == page.count {
            return .failed(.givesARecord, "\(count), of which none can be used: \(broken.words)", .answer, change)
        }
        if wanted == 0, page.deletions == 0 {
            return .warned(
                .givesARecord, "\(count), and filter leaves all of them out",
                ResourceCheck.Change("filter", "a condition that some records fulfil"))
        }
        let gone = page.deletions == 0 ? "" : ", \(page.deletions) of which say that something is gone"
        return .passed(.givesARecord, "\(count)\(gone)")
    }

    private var keysPresent: ResourceCheck.Test {
        guard wanted > 0 else { return .notTried(.keysPresent, "there is no record") }
        guard let keyless = page.keyless else { return .passed(.keysPresent, "\(wanted) of \(wanted) records (\(keyNames))") }
        return .failed(
            .keysPresent, "\(keyless.count) of \(wanted) records: \(keyless.words) (the first: record \(keyless.record))", .answer,
            ResourceCheck.Change(
                keyName, "attributes that each record has, under the paths and of the types that they have there, or \"content\""))
    }

    private var keysUnique: ResourceCheck.Test {
        guard page.keys.count > 1 else { return .notTried(.keysUnique, "there are not two records with a key") }
        var seen: [UniqueKey: Int] = [:], repeated = 0, first: (one: Int, other: Int)?
        for (record, key) in page.keys {
            if let other = seen[key] {
                repeated += 1
                first = first ?? (other, record)
            } else {
                seen[key] = record
            }
        }
        guard let first else { return .passed(.keysUnique, "\(page.keys.count) records, all different") }
        return .failed(
            .keysUnique,
            "\(repeated) of \(page.keys.count) records have the key of another (\(keyNames)); the first: records \(first.one) and \(first.other)",
            .answer, ResourceCheck.Change(keyName, "further attributes that tell records apart, or \"content\""))
    }

    private var datesParse: ResourceCheck.Test {
        guard wanted > 0 || page.broken != nil else { return .notTried(.datesParse, "there is no record") }
        if let misfit = page.misfits.first {
            let others = page.misfits.dropFirst().map { "\($0.attribute.name) (\($0.finding.count))" }.joined(separator: ", ")
            let more = others.isEmpty ? "" : "; likewise \(others)"
            return .failed(
                .datesParse,
                "\(misfit.finding.count) of \(wanted) records would be set aside: \(misfit.finding.words) (the first: record \(misfit.finding.record))"
                    + more, .answer, misfit.suggestion)
        }
        if let broken = page.broken {
            return .failed(
                .datesParse, "\(broken.count) of \(page.count) records would be set aside: \(broken.words) (the first: record \(broken.record))",
                .answer, ResourceCheck.Change("parse", "duplicate_keys, lone_surrogates, nul_in_text or a limit as the service needs it"))
        }
        switch page.reading {
        case .failure(let error):
            return .failed(
                .datesParse, Self.words(error, redactor), .answer, ResourceCheck.Change("entity.\(resource.entity)", "what records are like"))
        case .success(let reading) where reading.setAside > 0 && page.keyless == nil:
            let path = reading.path.isEmpty ? "" : ", the first at \(reading.path)"
            return .failed(
                .datesParse,
                "\(reading.setAside) records, or objects inside of them, would be set aside\(path); cisternctl try \(resource.scope) shows why",
                .answer,
                ResourceCheck.Change("entity.\(resource.entity).relationships", "match, path and target as records have them"))
        case .success: return .passed(.datesParse, "\(wanted) \(wanted == 1 ? "record" : "records") can be mapped")
        }
    }
}
