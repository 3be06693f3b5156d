import Foundation
import SyncConfiguration
import SyncTestSupport

@testable import SyncPipeline

/// What must be true of a pipeline, whatever its servers and its surroundings do: kept up with what happens, and asked after every step.
struct SimulationRules {
    /// How a list is read at the moment.
    private struct Reading {
        /// The last answer to the request of each page.
        var pages: [Int: SimulatedServer.Reply] = [:]
        /// The addresses that were asked for, in that order, and the last answer of each. A page may be asked for while the one before is being saved.
        var addresses: [String] = []
        var answers: [String: SimulatedServer.Reply] = [:]
        /// What it takes for the name of a thing.
        let nameField: String
        /// It began while a configuration was being read: by that one or the one before.
        let isUnsure: Bool
        /// Whether it must not come sooner after the poll before than the interval between polls.
        let keepsDistance: Bool
        /// A poll is its first request: a run may be cut off before, and then nobody has been polled.
        var hasAsked = false
        var isWild: Bool { pages.values.contains { $0.evidence == .lie } }
        var isProof: Bool { !pages.isEmpty && pages.values.allSatisfy { $0.evidence == .proof } }
        var listed: Set<Int> { pages.values.reduce(into: []) { $0.formUnion($1.listed) } }
        var gone: Set<Int> { pages.values.reduce(into: []) { $0.formUnion($1.gone) } }
        /// What a thing is called by what it reads.
        func name(_ told: String) -> String { nameField == "title" ? SimulatedServer.title(told) : told }
    }

    /// What a list has said over time.
    private struct Testimony {
        /// The rows of its last complete listing, and of what was read since.
        var vouched: Set<Int> = []
        /// Those of them whose records could be read.
        var rows: Set<Int> = []
        /// In how many complete listings in a row a row was missing.
        var missing: [Int: Int] = [:]
        /// The rows of which a record has said that they are gone, and none since that they are there.
        var gone: Set<Int> = []
    }

    static let minInterval = Duration.seconds(60)
    static let confirmRuns = 2
    /// Times are rounded on their way through dates.
    private static let rounding = Duration.milliseconds(2)

    private var readings: [ResourceScope: Reading] = [:]
    private var testimonies: [ResourceScope: Testimony] = [:]
    private var committedTestimonies: [ResourceScope: Testimony] = [:]
    /// What the rows are, by what was saved; and what they were when everything was committed last.
    private var applied: [String: [Int: String]] = [:]
    private var committed: [String: [Int: String]] = [:]
    private var live: [String: Set<Int>] = [:]
    private var isAfterKill = false
    /// What was being read as a process that could not write ended: a page of it may be in the main context, and be saved at the end, without anybody
    /// having told so.
    private var cutOff: [ResourceScope: Reading] = [:]
    /// Until when each server wants to be left alone.
    private var told: [String: SyncInstant] = [:]
    private var lastAsked: [ResourceScope: SyncInstant] = [:]
    /// Who was asked for since its last run began; and what began in this process.
    private var asked: Set<ResourceScope> = []
    /// What runs that begin take for the name of a thing, and what the run did that read a page of a list last.
    private var nameField = "name"
    private var nameFields: [ResourceScope: String] = [:]
    private var isReloading = false
    /// The lists of which a page was read last by a run that nobody knows that of.
    private var unsure: Set<ResourceScope> = []
    private var begun: Set<ResourceScope> = []
    /// Since when the clock goes on although not everything rests: a request may arrive long after it was made, and counts from the beginning of that.
    private var unseenSince: SyncInstant?
    private(set) var lastSuccess: [ResourceScope: Date] = [:]
    /// Complete runs of each list, all told.
    private(set) var completions: [ResourceScope: Int] = [:]
    /// The first thing that was wrong.
    private(set) var failure: String?

    mutating func fail(_ text: String) { failure = failure ?? text }

    // MARK: What is done

    mutating func ask(_ scope: ResourceScope) { asked.insert(scope) }

    /// A configuration is in force from now on, or comes into force some time during a reload: a run may end, and the next begin, before it does.
    mutating func configure(_ plan: Simulation.Plan, isReload: Bool = false) { (nameField, isReloading) = (plan.nameField, isReload) }

    mutating func resume(_ scope: ResourceScope) {
        asked.insert(scope)
        told[scope.source] = nil
    }

    /// Another process begins.
    ///
    /// - Parameters:
    ///   - isKill: what was not committed may be gone.
    ///   - isForgetful: nothing could be written for some time: what servers asked for, and what is due when, may be gone, too.
    mutating func restart(isKill: Bool, isForgetful: Bool) {
        begun = []
        asked = []
        cutOff = isForgetful ? readings : [:]
        readings = [:]
        isAfterKill = isKill
        if isForgetful {
            told = [:]
            lastAsked = [:]
            lastSuccess = [:]
        }
        guard isKill else { return }
        for (scope, testimony) in testimonies {
            let before = committedTestimonies[scope] ?? Testimony()
            testimonies[scope]?.vouched.formIntersection(before.vouched)
            testimonies[scope]?.rows.formIntersection(before.rows)
            testimonies[scope]?.missing = testimony.missing.merging(before.missing, uniquingKeysWith: max)
            testimonies[scope]?.gone.formUnion(before.gone)
        }
    }

    /// Whether a page that nobody has told of says so of a row.
    private func isToldUnheard(_ key: Int, of entity: String, _ name: String) -> Bool {
        cutOff.contains { scope, reading in
            guard SimulatedServer.list(scope)?.entity == entity else { return false }
            return reading.pages.values.contains { page in
                page.rows[key].map { reading.name($0) == name || reading.isUnsure && [$0, SimulatedServer.title($0)].contains(name) } ?? false
            }
        }
    }

    /// What may be vouched for may be missing from the next listing.
    private mutating func takeUnheard() {
        for (scope, reading) in cutOff {
            testimonies[scope, default: Testimony()].gone.formUnion(reading.gone)
            for key in reading.listed {
                let count = testimonies[scope]?.missing[key] ?? 0
                testimonies[scope, default: Testimony()].missing[key] = count
            }
        }
        cutOff = [:]
    }

    // MARK: What happens

    mutating func loseSight(at now: SyncInstant) { unseenSince = unseenSince ?? now }

    mutating func regainSight() { unseenSince = nil }

    /// A request arrives.
    mutating func request(_ scope: ResourceScope, _ address: String, at now: SyncInstant) {
        if readings[scope]?.addresses.contains(address) == false { readings[scope]?.addresses.append(address) }
        if let end = told[scope.source], now.duration(to: end) > Self.rounding { fail("\(scope) was asked before its server allowed it") }
        if readings[scope] == nil { fail("\(scope) was asked outside of a run") }
        guard readings[scope]?.hasAsked == false else { return }
        if readings[scope]?.keepsDistance == true, let last = lastAsked[scope], last.duration(to: now) < Self.minInterval - Self.rounding {
            fail("\(scope) was polled \(last.duration(to: now)) after its last poll")
        }
        readings[scope]?.hasAsked = true
        lastAsked[scope] = unseenSince ?? now
    }

    /// How many pages the run that is open has asked for.
    func pagesAsked(_ scope: ResourceScope) -> Int { readings[scope]?.addresses.count ?? 0 }

    mutating func answer(_ scope: ResourceScope, _ address: String, _ reply: SimulatedServer.Reply, at now: SyncInstant) {
        readings[scope]?.pages[reply.page] = reply
        readings[scope]?.answers[address] = reply
        if let wait = reply.wait { told[scope.source] = max(told[scope.source] ?? now, now.advanced(by: wait)) }
    }

    mutating func happened(_ event: SyncEvent, at now: SyncInstant) {
        switch event {
        case .runStarted(let start): begin(start.scope, at: now)
        case .pageSaved(let page): save(page.scope, page.page)
        case .pageNotModified(let scope, _, let page): save(scope, page)
        case .runFinished(let report): end(report)
        default: break
        }
    }

    private mutating func begin(_ scope: ResourceScope, at now: SyncInstant) {
        let isUnasked = asked.remove(scope) == nil
        if readings[scope] != nil { fail("\(scope) runs twice") }
        readings[scope] = Reading(nameField: nameField, isUnsure: isReloading, keepsDistance: isUnasked || begun.contains(scope))
        begun.insert(scope)
    }

    /// The page of this number, counted from 1 in the order of reading, is in the main context, or was there and is still what the server has.
    private mutating func save(_ scope: ResourceScope, _ number: Int) {
        guard let list = SimulatedServer.list(scope), let reading = readings[scope] else { return fail("\(scope) saved a page outside of a run") }
        let address = number <= reading.addresses.count ? reading.addresses[number - 1] : ""
        guard let reply = reading.answers[address] else { return fail("\(scope) saved page \(number) that nobody gave it") }
        nameFields[scope] = reading.nameField
        if reading.isUnsure { unsure.insert(scope) } else { unsure.remove(scope) }
        applied[list.entity, default: [:]].merge(reply.rows.mapValues(reading.name)) { $1 }
        testimonies[scope, default: Testimony()].vouched.formUnion(reply.listed)
        testimonies[scope, default: Testimony()].rows.formUnion(reply.rows.keys)
        testimonies[scope]?.vouched.subtract(reply.gone)
        testimonies[scope]?.rows.subtract(reply.gone)
        testimonies[scope]?.gone.subtract(reply.rows.keys)
        testimonies[scope]?.gone.formUnion(reply.gone)
    }

    private mutating func end(_ report: RunReport) {
        let scope = report.scope
        defer { readings[scope] = nil }
        guard let reading = readings[scope] else { return }
        if report.outcome == .succeeded { lastSuccess[scope] = report.endedAt }
        guard report.outcome == .succeeded, report.isComplete else { return }
        if reading.isWild { return fail("\(scope) counts as complete: \(reading.pages.values.filter { $0.evidence == .lie }.map(\.words))") }
        completions[scope, default: 0] += 1
        if reading.pages.values.contains(where: { $0.evidence == .noProof }) { return }
        var testimony = testimonies[scope] ?? Testimony()
        let listed = reading.listed
        for key in testimony.vouched.union(testimony.missing.keys) {
            testimony.missing[key] = listed.contains(key) ? nil : (testimony.missing[key] ?? 0) + 1
        }
        testimony.vouched = listed
        testimony.rows.formIntersection(listed)
        testimonies[scope] = testimony
    }

    // MARK: What must be true

    /// At rest: the rows there are, with their names, and whether all of it is committed.
    mutating func compare(_ rows: [String: [Int: String]], isCommitted: Bool) {
        for (entity, found) in rows {
            let wanted = applied[entity] ?? [:], isMixed = readsInTwoWays(entity)
            for (key, name) in found {
                let isOtherField = isMixed && wanted[key].map { $0 == SimulatedServer.title(name) || SimulatedServer.title($0) == name } ?? false
                let isKnown =
                    wanted[key] == name || isOtherField || isAfterKill && committed[entity]?[key] == name || isToldUnheard(key, of: entity, name)
                if !isKnown { fail("\(entity) \(key) is \(name) and should be \(wanted[key] ?? "nothing")") }
            }
            let before = (isAfterKill ? nil : live[entity]) ?? []
            for key in before.subtracting(found.keys) { remove(key, of: entity) }
            if isAfterKill { lost(entity, found) }
            for key in wanted.keys where found[key] == nil && !before.contains(key) && !isAfterKill && isListedNow(key, entity) {
                fail("\(entity) \(key) is listed, was saved, and is no row")
            }
            applied[entity] = found.merging(isAfterKill ? [:] : wanted) { found, _ in found }
            live[entity] = Set(found.keys)
        }
        isAfterKill = false
        takeUnheard()
        guard isCommitted else { return }
        committed = rows
        committedTestimonies = testimonies
    }

    /// Whether a list was read by the mapping of before a reload, and another by that of after it: which of them wrote a row last is nobody's business.
    private func readsInTwoWays(_ entity: String) -> Bool {
        let scopes = SimulatedServer.lists.filter { $0.entity == entity }.map(\.scope)
        if scopes.contains(where: { unsure.contains($0) || readings[$0]?.isUnsure == true }) { return true }
        return Set(scopes.compactMap { nameFields[$0] } + scopes.compactMap { readings[$0]?.nameField } + [nameField]).count > 1
    }

    /// What was committed is there after a kill.
    private mutating func lost(_ entity: String, _ found: [Int: String]) {
        for key in (committed[entity] ?? [:]).keys where found[key] == nil && isListedNow(key, entity) {
            fail("\(entity) \(key) was committed, and is gone after a kill")
        }
    }

    private func isListedNow(_ key: Int, _ entity: String) -> Bool {
        SimulatedServer.lists.contains { $0.entity == entity && testimonies[$0.scope]?.rows.contains(key) == true }
    }

    private mutating func remove(_ key: Int, of entity: String) {
        let lists = SimulatedServer.lists.filter { $0.entity == entity }
        // What a list says itself is gone goes when its run ends; what it does not mention stays.
        if let list = lists.first(where: { $0.kind == .keyset }) {
            let isSaid = [readings[list.scope], cutOff[list.scope]].contains { $0?.gone.contains(key) ?? false }
            if !isSaid, testimonies[list.scope]?.gone.contains(key) != true {
                fail("\(entity) \(key) was removed, and nobody has said that it is gone")
            }
            return
        }
        if let other = lists.first(where: { testimonies[$0.scope]?.vouched.contains(key) == true }) {
            return fail("\(entity) \(key) was removed, and \(other.scope) vouches for it")
        }
        // A run that has drawn its conclusions may still wait for them to be committed.
        let isProven = lists.contains { list in
            let open = [readings[list.scope], cutOff[list.scope]].contains { $0.map { $0.isProof && !$0.listed.contains(key) } ?? false }
            return (testimonies[list.scope]?.missing[key] ?? 0) + (open ? 1 : 0) >= Self.confirmRuns
        }
        if !isProven { fail("\(entity) \(key) was removed without \(Self.confirmRuns) complete listings that did not have it") }
    }
}

extension SimulatedServer {
    static func list(_ scope: ResourceScope) -> List? { lists.first { $0.scope == scope } }
}
