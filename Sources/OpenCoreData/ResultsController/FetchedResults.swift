import Foundation

/// The generic face of a set of results: a controller, which knows of which type they are.
protocol FetchedResultsOwner: AnyObject {
    var results: FetchedResults { get }
    /// The controller as its delegate sees it.
    var erased: NSFetchedResultsController<any NSFetchRequestResult> { get }
    func sectionIndexTitle(forSectionName sectionName: String) -> String?
}

/// What a controller does, without the type of its results: fetches, follows its context's changes by ID, tells the delegate.
final class FetchedResults {
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    let yieldsIDs: Bool
    /// The request as it is now.
    private let makePlan: () throws -> FetchPlan
    /// The request, without the type of its results.
    let erasedRequest: () -> NSFetchRequest<any NSFetchRequestResult>
    /// The controller that made this. It keeps the results, not they it.
    weak var owner: (any FetchedResultsOwner)?

    private(set) var plan: ResultPlan?
    /// Nil before the first fetch.
    private(set) var sections: ResultSections?
    /// Counts how often the results were replaced.
    private(set) var generation = 0
    /// The objects that somebody asked for, for as long as they are results.
    private var retained: [NSManagedObjectID: NSManagedObject] = [:]
    private var infos: (generation: Int, sections: [FetchedResultsSection]) = (-1, [])

    /// Whether the delegate has a method for differences; nil until it was tried.
    var delegateTakesDifferences: Bool?
    private weak var storedDelegate: (any NSFetchedResultsControllerDelegate)?
    /// What happened while the delegate was being told.
    private var waiting = ContextChangeIDs()
    private var isWaitingForReset = false
    private var isTelling = false
    /// A store could not be read: nothing is known of the results until it can.
    private var mustFetchAgain = false

    init(
        context: NSManagedObjectContext, sectionNameKeyPath: String?, yieldsIDs: Bool, plan: @escaping () throws -> FetchPlan,
        request: @escaping () -> NSFetchRequest<any NSFetchRequestResult>
    ) {
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.yieldsIDs = yieldsIDs
        makePlan = plan
        erasedRequest = request
    }

    var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { storedDelegate }
        set {
            context.checkQueue()
            storedDelegate = newValue
            delegateTakesDifferences = nil
            if newValue == nil { context.news.remove(self) } else { context.news.add(self) { $0.hear($1) } }
        }
    }

    // MARK: Fetching

    func fetch() throws {
        context.checkQueue()
        var fetch = try makePlan()
        fetch.includesPendingChanges = true
        let plan = try ResultPlan(fetch, sectionNameKeyPath: sectionNameKeyPath)
        let entries = try entries(of: plan)
        let sections = ResultSections(entries, order: plan.order, isSectioned: plan.isSectioned)
        var place = 0
        for section in sections.sections {
            for entry in section.entries {
                guard entries[place].id == entry.id else { throw outOfOrder(entries[place], at: place) }
                place += 1
            }
        }
        self.plan = plan
        self.sections = sections
        retained = retained.filter { sections.known[$0.key] != nil }
        mustFetchAgain = false
        generation += 1
    }

    private func outOfOrder(_ entry: ResultEntry, at place: Int) -> NSError {
        .coreData(
            .coreData,
            "The object at index \(place) has the section name \"\(entry.section)\", which is out of order. Sort by \(sectionNameKeyPath ?? "") "
                + "first, or by something that orders the objects as it does.")
    }

    /// What the results are now, in order. Throws what the fetch throws.
    private func entries(of plan: ResultPlan) throws -> [ResultEntry] {
        // A store does not know of unsaved changes in the objects that the results depend on, so then every row is looked at.
        let looksAtAll = plan.dependency.entities?.isEmpty != true && context.chainHasChanges(of: plan.dependency.entities)
        var fetch = plan.fetch
        if looksAtAll {
            fetch.predicate = nil
            fetch.limit = 0
            fetch.offset = 0
        }
        let rows = try context.fetch(fetch)
        try plan.warm(rows, in: context)
        let reader = CheckedReader(context)
        let entries = try rows.compactMap { found -> ResultEntry? in
            guard let row = found.row else { return nil }
            let view = RowView(id: found.id, row: row, reader: reader)
            return try !looksAtAll || plan.matches(view) ? plan.entry(view, in: context) : nil
        }
        try reader.check()
        let sorted = plan.order.sorted(entries)
        return looksAtAll ? plan.fetch.windowed(sorted) : sorted
    }

    // MARK: Results

    /// The object, or its ID where IDs were asked for.
    func result(for id: NSManagedObjectID) -> any NSFetchRequestResult {
        if yieldsIDs { return id }
        if let known = retained[id], known.managedObjectContext === context { return known }
        let object = context.object(with: id)
        if sections?.known[id] != nil { retained[id] = object }
        return object
    }

    var sectionInfos: [FetchedResultsSection]? {
        guard let sections else { return nil }
        if infos.generation != generation {
            infos = (generation, sections.sections.map { FetchedResultsSection($0, of: self) })
        }
        return infos.sections
    }

    func indexTitle(forSectionNamed name: String) -> String? {
        owner.map { $0.sectionIndexTitle(forSectionName: name) } ?? Self.indexTitle(ofName: name)
    }

    /// The first letter, capitalised; nil if there is none.
    static func indexTitle(ofName name: String) -> String? { name.first.map { String($0).uppercased() } }
}

// MARK: - Following

extension FetchedResults {
    private func hear(_ news: ContextNews) {
        if case .wasReset = news {
            guard isFollowing else { return }
            isWaitingForReset = true
        } else {
            guard let ids = news.changedIDs, !ids.isEmpty, isFollowing else { return }
            waiting.formUnion(ids)
            // Rows are what is looked at, not objects.
            context.publish()
        }
        catchUp()
    }

    /// Without a delegate the results stay as they were fetched.
    private var isFollowing: Bool {
        if storedDelegate != nil && owner != nil { return sections != nil }
        context.news.remove(self)
        return false
    }

    private func catchUp() {
        // A delegate that saves or changes something is told of it when it has heard everything of this.
        if isTelling { return }
        isTelling = true
        defer { isTelling = false }
        while !waiting.isEmpty || isWaitingForReset {
            let delta = nextDelta()
            if !delta.isEmpty { tell(delta) }
        }
    }

    /// What is to be done about everything that is waiting. Nobody else has the results when it is carried out, so that they need not be copied then.
    private func nextDelta() -> ResultDelta {
        let ids = waiting, wasReset = isWaitingForReset
        waiting = ContextChangeIDs()
        isWaitingForReset = false
        guard let plan, let sections else { return ResultDelta() }
        return delta(ids, wasReset: wasReset, plan: plan, sections: sections)
    }

    private func delta(_ ids: ContextChangeIDs, wasReset: Bool, plan: ResultPlan, sections: ResultSections) -> ResultDelta {
        var touched = ids.all
        let hasDependants = touched.contains { plan.dependsOn($0) }
        touched = touched.filter { plan.concerns($0) || sections.known[$0] != nil }
        let fetchesAll = wasReset || mustFetchAgain || hasDependants || plan.isWindowed && !touched.isEmpty
        if !fetchesAll && touched.isEmpty { return ResultDelta() }
        do {
            let delta: ResultDelta
            if fetchesAll {
                let entries = try entries(of: plan)
                delta = self.delta(to: entries, from: sections, updated: { wasReset || touched.contains($0) })
            } else {
                delta = try self.delta(of: touched, plan: plan, sections: sections)
            }
            mustFetchAgain = false
            return delta
        } catch {
            // There is nobody to throw to here. The results stay as they are, and the next change fetches them again.
            mustFetchAgain = true
            return ResultDelta()
        }
    }

    /// Looks at the rows of what changed, and at nothing else.
    private func delta(of touched: Set<NSManagedObjectID>, plan: ResultPlan, sections: ResultSections) throws -> ResultDelta {
        var delta = ResultDelta()
        let rows = try context.rows(for: Array(touched))
        try plan.warm(rows.map { FetchedRow(id: $0.key, row: $0.value) }, in: context)
        let reader = CheckedReader(context)
        for id in touched {
            let old = sections.known[id]
            let view = rows[id].map { RowView(id: id, row: $0, reader: reader) }
            guard let view, plan.concerns(id), try plan.matches(view) else {
                if let old { delta.deleted.append(old) }
                continue
            }
            let new = plan.entry(view, in: context)
            if let old { delta.note(old, new, isUpdate: true) } else { delta.inserted.append(new) }
        }
        try reader.check()
        return delta
    }

    /// Compares everything with everything.
    private func delta(
        to entries: [ResultEntry], from sections: ResultSections, updated: (NSManagedObjectID) -> Bool
    ) -> ResultDelta {
        var delta = ResultDelta(), gone = sections.known
        for new in entries {
            if let old = gone.removeValue(forKey: new.id) { delta.note(old, new, isUpdate: updated(new.id)) } else { delta.inserted.append(new) }
        }
        delta.deleted = Array(gone.values)
        return delta
    }

    // MARK: Telling

    private func tell(_ delta: ResultDelta) {
        guard let delegate, let controller = owner?.erased else { return }
        if !(plan?.isSectioned ?? true) && delegateTakesDifferences != false {
            let before = (sections, retained)
            let report = carryOut(delta)
            if report.isEmpty { return }
            let wasKnown = delegateTakesDifferences != nil
            delegateTakesDifferences = true
            delegate.controller(controller, didChangeContentWith: report.difference)
            if wasKnown || delegateTakesDifferences == true { return }
            // It has no such method, and has not seen anything yet: once more from the start, the other way.
            (sections, retained) = before
            generation += 1
        }
        delegate.controllerWillChangeContent(controller)
        let leaving = Dictionary(delta.deleted.map { ($0.id, retained[$0.id]) }, uniquingKeysWith: { first, _ in first })
        let report = carryOut(delta)
        for change in report.sections {
            delegate.controller(
                controller, didChange: FetchedResultsSection(change.section, of: self), atSectionIndex: change.index, for: change.type)
        }
        for change in report.objects {
            let object: Any = yieldsIDs ? change.id : leaving[change.id].flatMap { $0 } ?? result(for: change.id)
            delegate.controller(
                controller, didChange: object, at: change.old.map { IndexPath(row: $0.row, section: $0.section) }, for: change.type,
                newIndexPath: change.new.map { IndexPath(row: $0.row, section: $0.section) })
        }
        delegate.controllerDidChangeContent(controller)
    }

    private func carryOut(_ delta: ResultDelta) -> ResultReport {
        for entry in delta.deleted { retained[entry.id] = nil }
        generation += 1
        return sections?.apply(delta) ?? ResultReport()
    }
}

extension ResultDelta {
    fileprivate mutating func note(_ old: ResultEntry, _ new: ResultEntry, isUpdate: Bool) {
        if !old.standsLike(new) {
            replaced.append(Replacement(old: old, new: new, isUpdate: isUpdate))
        } else if isUpdate {
            updated.append(new)
        }
    }
}
