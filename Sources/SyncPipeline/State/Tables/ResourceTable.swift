import Foundation
import OpenCoreData

/// How each resource stands: what its runs concluded, and what of its schedule outlives the process. Each writes columns of its own.
struct ResourceTable: StateTable {
    static let entity = "CisternResource"
    static let view: String? = "cistern_resource"
    static let columns = ResourceTable()

    let source = Column.key("source")
    let resource = Column.key("resource")
    /// Which of its parts it is; empty: the resource itself.
    let partition = Column.key("partition")

    // What runs conclude.
    let completeAt = Column<Date?>("completeAt")
    let runNumber = Column<Int64>.count("runNumber")
    let consecutiveFailures = Column<Int>.count("consecutiveFailures")
    let httpStatus = Column<Int?>("httpStatus", isCount: true)
    let lastError = Column<String?>("lastError")
    let pages = Column<Int>.count("pages")
    let rows = Column<Int>.count("rows")
    /// Which readings of which pages the last complete listing was, if the resource vouches for their rows and no others.
    let listing = Column<BodyDigest?>("listing", isShown: false)
    let heldDeletes = Column<Int>.count("heldDeletes")
    let mayDelete = Column.flag("mayDelete")
    let mapping = Column<String?>("mapping")
    /// The run that read the last complete listing.
    let completeRun = Column<Int64>.count("completeRun")
    /// How far runs have come, a value of `incremental.field`; nil: everything is asked for.
    let cursor = Column<String?>("cursor")
    /// When the last run began that asked for everything, whatever became of it.
    let fullAt = Column<Date?>("fullAt", isShown: false)
    /// With which of its parts the next run begins; empty: with the first.
    let resumeAt = Column<String>("resumeAt", isShown: false, or: "")

    // The schedule.
    let lastSuccess = Column<Date?>("lastSuccess")
    let startedAt = Column<Date?>("startedAt", isShown: false)
    let nextPollAt = Column<Date?>("nextPollAt")
    let parkedUntil = Column<Date?>("parkedUntil")
    let isPaused = Column.flag("isPaused")
    let isEnabled = Column.flag("isEnabled")
    let isRemoved = Column.flag("isRemoved")
    let staleAt = Column<Date?>("staleAt")
    let runsUntil = Column<Date?>("runsUntil")
    /// What `adaptive` has made of the interval, in milliseconds.
    let interval = Column<Int?>("interval", isShown: false)
    let openUntil = Column<Date?>("openUntil")
    let openings = Column<Int>.count("openings")

    static func row(of scope: ResourceScope, in worker: NSManagedObjectContext) throws -> StateRow<ResourceTable> {
        try StateRow.find(key: scope.source, scope.resource, scope.partition ?? "", in: worker)
    }

    /// The row, for reading only; nil: there is none.
    static func existing(_ scope: ResourceScope, in worker: NSManagedObjectContext) throws -> StateRow<ResourceTable>? {
        try StateRow.existing(key: scope.source, scope.resource, scope.partition ?? "", in: worker)
    }
}

extension StateRow<ResourceTable> {
    var scope: ResourceScope {
        ResourceScope(source: self.source, resource: self.resource, partition: self.partition.isEmpty ? nil : self.partition)
    }

    /// What of the schedule is stored.
    var schedule: StoredSchedule {
        get {
            StoredSchedule(
                scope: scope, startedAt: self.startedAt, nextPollAt: self.nextPollAt, parkedUntil: self.parkedUntil, isPaused: self.isPaused,
                isEnabled: self.isEnabled, isRemoved: self.isRemoved,
                lastSuccess: self.lastSuccess, staleAt: self.staleAt, runsUntil: self.runsUntil,
                interval: self.interval.map { .milliseconds(min(max($0, 0), 1_000_000_000_000)) }, openUntil: self.openUntil,
                openings: self.openings)
        }
        set {
            self.startedAt = newValue.startedAt
            self.nextPollAt = newValue.nextPollAt
            self.parkedUntil = newValue.parkedUntil
            self.isPaused = newValue.isPaused
            self.isEnabled = newValue.isEnabled
            self.isRemoved = newValue.isRemoved
            self.lastSuccess = newValue.lastSuccess
            self.staleAt = newValue.staleAt
            self.runsUntil = newValue.runsUntil
            self.interval = newValue.interval.map { Int($0.inSeconds * 1000) }
            self.openUntil = newValue.openUntil
            self.openings = newValue.openings
        }
    }

    /// What earlier runs left behind.
    ///
    /// - Parameters:
    ///   - isSame: records become rows of the same entity as then.
    ///   - missing: what is remembered of missing rows.
    func state(isSame: Bool = true, missing: MissingKeys.Stored = MissingKeys.Stored()) -> RunState {
        RunState(
            number: self.runNumber + 1, listing: isSame ? self.listing : nil, rows: self.rows, missing: missing, mayDelete: isSame && self.mayDelete,
            failures: self.consecutiveFailures, lastSuccess: self.lastSuccess, completeAt: isSame ? self.completeAt : nil,
            completeRun: self.completeRun,
            parkedUntil: self.parkedUntil, nextPollAt: self.nextPollAt, isPaused: self.isPaused, heldDeletes: self.heldDeletes,
            httpStatus: self.httpStatus,
            lastError: self.lastError, fingerprint: self.mapping, resumeAt: self.resumeAt, cursor: isSame ? self.cursor : nil,
            fullAt: self.fullAt)
    }
}

/// The last runs of each resource. People read it; the pipeline only writes it.
struct RunTable: StateTable {
    static let entity = "CisternRun"
    static let view: String? = "cistern_run"
    static let columns = RunTable()

    let source = Column.key("source")
    let resource = Column.key("resource")
    let number = Column<Int64>.count("number", sql: "run", isKey: true)
    let uuid = Column<UUID?>("uuid")
    let cause = Column<RunCause?>("cause")
    let startedAt = Column<Date?>("startedAt")
    let endedAt = Column<Date?>("endedAt")
    let outcome = Column<RunOutcome?>("outcome")
    let isComplete = Column.flag("isComplete", sql: "complete")
    let pages = Column<Int>.count("pages")
    let bytes = Column<Int>.count("bytes")
    let inserted = Column<Int>.count("inserted")
    let updated = Column<Int>.count("updated")
    let unchanged = Column<Int>.count("unchanged")
    let deleted = Column<Int>.count("deleted")
    let quarantined = Column<Int>.count("quarantined")
    let httpStatus = Column<Int?>("httpStatus")
    let error = Column<String?>("error")

    static func row(of scope: ResourceScope, _ number: Int64, in worker: NSManagedObjectContext) throws -> StateRow<RunTable> {
        try StateRow.find(key: scope.source, scope.resource, number, in: worker)
    }
}

extension StateRow<RunTable> {
    /// How the records fared.
    mutating func take(_ counts: RecordCounts) {
        for column in RunTable.allColumns {
            guard let kind = RecordCounts.kinds.first(where: { $0.name == column.name }) else { continue }
            set(column, to: counts[keyPath: kind.path].stored)
        }
    }
}
