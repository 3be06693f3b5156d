import Dispatch
import Foundation
import Glibc
import SyncConfiguration
import Synchronization

/// The bodies of pages, in files beside the store: `Archive/SOURCE/RESOURCE/PART/RUN-PAGE-SLOT.body`. What is in it is known from the names of the files.
///
///     arrives (in `Archive/.arriving`) ── whole ──► .new ── its rows are saved ──► .body ── a newer one, no page any more, no room ──► gone
///
/// A body has its name before it is mapped. What is newer than the rows is as true as they are, so a process may end at any point: what has not arrived is
/// dropped at the next start, and what may not be mapped yet is mapped once more by a replay. What is lost in it is never more than a request.
final class BodyArchive: Sendable {
    /// An archived body.
    struct Entry: Sendable, Hashable {
        /// What the folder of the part is called; empty: it is of the resource as a whole.
        let part: String
        let run: Int64
        let page: Int
        /// `ArchivedHead.slot`
        let slot: String
        /// It is known that its rows were saved.
        var isSaved: Bool
        let size: Int

        var name: String { "\(run)-\(page)-\(slot).\(isSaved ? "body" : "new")" }

        /// In the order in which they came.
        static func isBefore(_ left: Self, _ right: Self) -> Bool { (left.run, left.page) < (right.run, right.page) }
    }

    private struct Place: Hashable {
        let part: String
        let slot: String
    }

    /// What is kept of one resource.
    private struct Shelf {
        var rule: SchemaConfiguration
        var entries: [Place: [Entry]] = [:]
        var size = 0

        mutating func add(_ entry: Entry) {
            entries[Place(part: entry.part, slot: entry.slot), default: []].append(entry)
            size += entry.size
        }

        /// Takes out those of a place that are meant.
        mutating func take(_ place: Place, where isMeant: (Entry) -> Bool) -> [Entry] {
            guard let all = entries[place] else { return [] }
            let taken = all.filter(isMeant), left = all.filter { !isMeant($0) }
            entries[place] = left.isEmpty ? nil : left
            size -= taken.reduce(0) { $0 + $1.size }
            return taken
        }

        mutating func take(where isMeant: (Entry) -> Bool) -> [Entry] { entries.keys.flatMap { take($0, where: isMeant) } }

        /// Takes out the oldest until the others need no more than that.
        mutating func shrink(to limit: Int) -> [Entry] {
            guard size > limit else { return [] }
            var rest = size, oldest: Set<Entry> = []
            for entry in entries.values.joined().sorted(by: Entry.isBefore) where rest > limit {
                oldest.insert(entry)
                rest -= entry.size
            }
            return take { oldest.contains($0) }
        }
    }

    private struct State {
        var shelves: [ResourceScope: Shelf] = [:]
        /// Counts bodies that arrive.
        var arrivals = 0
        /// How many bytes of the file system no body may take.
        var leavesFree = 0
        /// Resources of which it was told that their bodies have no room.
        var isTold: Set<ResourceScope> = []
    }

    /// The folder's name in the document's folder.
    static let folderName = "Archive"
    private static let arriving = ".arriving"

    private let folder: URL
    private let store: URL
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "archive", qos: .utility)
    private let observe: @Sendable (SyncEvent) -> Void

    /// - Parameter package: the document's folder. Nothing is done to it yet.
    init(package: URL, observe: @escaping @Sendable (SyncEvent) -> Void) {
        folder = package.appendingPathComponent(Self.folderName)
        store = package.appendingPathComponent("StoreContent/persistentStore")
        self.observe = observe
    }

    /// Runs something that waits for the disk, or looks at all that is kept of a resource: not on a thread that runs tasks.
    func perform<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    /// Tells that something is not kept.
    func tell(_ scope: ResourceScope, _ reason: String) { observe(.archiveFailed(scope: scope, reason: RemoteText.line(reason))) }

    // MARK: Begin and configuration

    /// Drops what a process before this one has left half-written. Before anything arrives.
    func dropArrivals() { try? FileManager.default.removeItem(at: folder.appendingPathComponent(Self.arriving)) }

    /// Takes over what is to be kept, and drops everything else: the bodies of resources that keep none, or are no more.
    ///
    /// - Parameters:
    ///   - runs: how many runs of each resource the store knows. Bodies of later ones than the one that may have been open are of another store: those go,
    ///     and no others.
    ///   - leavesFree: how many bytes of the file system stay free.
    func keep(_ rules: [ResourceScope: SchemaConfiguration], runs: [ResourceScope: Int64], leavesFree: Int) {
        let known = state.withLock { state in
            state.leavesFree = leavesFree
            state.isTold = []
            state.shelves = state.shelves.filter { rules[$0.key] != nil }
            for (scope, rule) in rules { state.shelves[scope]?.rule = rule }
            return Set(state.shelves.keys)
        }
        dropOthers(than: Set(rules.keys))
        for (scope, rule) in rules where !known.contains(scope) {
            var shelf = Shelf(rule: rule)
            for entry in found(of: scope) { shelf.add(entry) }
            let last = (runs[scope] ?? 0) + 1
            remove(shelf.take { $0.run > last }, of: scope)
            state.withLock { state in
                if state.shelves[scope] == nil { state.shelves[scope] = shelf }
            }
        }
        for (scope, rule) in rules { remove(change(scope) { $0.shrink(to: rule.rawMax.bytes) } ?? [], of: scope) }
    }

    private func dropOthers(than scopes: Set<ResourceScope>) {
        let files = FileManager.default
        func names(_ folder: URL) -> [String] { (try? files.contentsOfDirectory(atPath: folder.path)) ?? [] }
        for source in names(folder) where source != Self.arriving {
            let place = folder.appendingPathComponent(source), resources = names(place)
            let gone = resources.filter { !scopes.contains(ResourceScope(source: source, resource: $0)) }
            for resource in gone { try? files.removeItem(at: place.appendingPathComponent(resource)) }
            if gone.count == resources.count { try? files.removeItem(at: place) }
        }
        if scopes.isEmpty, names(folder).isEmpty { try? files.removeItem(at: folder) }
    }

    private func place(of scope: ResourceScope, _ part: String = "") -> URL {
        let resource = folder.appendingPathComponent(scope.source).appendingPathComponent(scope.resource)
        return part.isEmpty ? resource : resource.appendingPathComponent(part)
    }

    /// What the folder of a part is called.
    private static func part(_ scope: ResourceScope) -> String { scope.partition.map(ArchivedHead.name) ?? "" }

    /// What lies there.
    private func found(of scope: ResourceScope) -> [Entry] {
        let base = place(of: scope)
        guard let walk = FileManager.default.enumerator(at: base, includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey]) else { return [] }
        return walk.compactMap { item in
            guard let file = item as? URL, let facts = try? file.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey]),
                facts.isRegularFile == true
            else { return nil }
            let folder = file.deletingLastPathComponent().lastPathComponent
            let parts = file.deletingPathExtension().lastPathComponent.split(separator: "-")
            guard parts.count == 3, let run = Int64(parts[0]), let page = Int(parts[1]), ["body", "new"].contains(file.pathExtension) else {
                return nil
            }
            return Entry(
                part: folder == scope.resource ? "" : folder, run: run, page: page, slot: String(parts[2]), isSaved: file.pathExtension == "body",
                size: facts.fileSize ?? 0)
        }
    }

    /// Changes what is known of a resource; nil: nothing of it is kept.
    private func change<T: Sendable>(_ scope: ResourceScope, _ body: (inout Shelf) -> T) -> T? {
        state.withLock { state in
            // Where it stands: a copy of all that is known for each page would cost more than the page.
            guard let index = state.shelves.index(forKey: scope.whole) else { return nil }
            return body(&state.shelves.values[index])
        }
    }

    private func remove(_ entries: [Entry], of scope: ResourceScope) {
        for entry in entries { unlink(place(of: scope, entry.part).appendingPathComponent(entry.name).path) }
    }

    // MARK: Bodies that come

    /// Whether bodies of a resource are kept.
    func isKept(_ scope: ResourceScope) -> Bool { state.withLock { $0.shelves[scope.whole] != nil } }

    /// Begins to write a body; nil: none of the resource is kept, or there is no room.
    func write(_ head: ArchivedHead, of scope: ResourceScope) -> BodyWriter? {
        let (number, leavesFree, isKept) = state.withLock { state -> (Int, Int, Bool) in
            state.arrivals += 1
            return (state.arrivals, state.leavesFree, state.shelves[scope.whole] != nil)
        }
        guard isKept else { return nil }
        if let free = DiskSpace.free(at: store), free < leavesFree {
            tellOnce(scope, "no body is kept while the disk has less room than store.min_free_disk")
            return nil
        }
        let folder = folder.appendingPathComponent(Self.arriving)
        guard make(folder) else {
            tell(scope, "the body of page \(head.page) cannot be kept: \(folder.path): \(BodyFile.reason)")
            return nil
        }
        return BodyWriter(
            head, of: scope, at: folder.appendingPathComponent("\(number)").path, mode: mode, leavesFree: leavesFree, archive: self)
    }

    /// Those of the store's file: who may read it may read these.
    private var mode: mode_t {
        var facts = stat()
        return 0o600 | (stat(store.path, &facts) == 0 ? facts.st_mode & 0o666 : 0)
    }

    /// Makes a folder and those above it, up to the document's.
    private func make(_ place: URL) -> Bool {
        let mode = mode, permissions = mode | (mode & 0o444) >> 2 | 0o100
        var isMade = mkdir(place.path, permissions) == 0
        if !isMade, errno == ENOENT, place.path != folder.path, make(place.deletingLastPathComponent()) {
            isMade = mkdir(place.path, permissions) == 0
        }
        if !isMade { return errno == EEXIST }
        var facts = stat()
        // Who set it for the document's folder wants what is made in it to be the group's.
        let group = stat(place.path, &facts) == 0 ? facts.st_mode & S_ISGID : 0
        return chmod(place.path, permissions | group) == 0
    }

    /// Gives a body that has arrived its name. Of those of its page that were not mapped it takes the place.
    func take(_ body: ArrivedBody, from path: String) -> Entry? {
        let scope = body.scope, part = Self.part(scope)
        guard isKept(scope) else { return nil }
        let entry = Entry(part: part, run: body.head.run, page: body.head.page, slot: body.head.slot, isSaved: false, size: body.size)
        let folder = place(of: scope, part)
        guard make(folder), rename(path, folder.appendingPathComponent(entry.name).path) == 0 else {
            tell(scope, "the body of page \(entry.page) cannot be kept: \(BodyFile.reason)")
            return nil
        }
        let outdated = change(scope) { shelf -> [Entry] in
            let before = shelf.take(Place(part: part, slot: entry.slot)) { !$0.isSaved }
            shelf.add(entry)
            return before.filter { $0.name != entry.name }
        }
        // Where nothing is kept any more, not this either.
        remove(outdated ?? [entry], of: scope)
        return outdated == nil ? nil : entry
    }

    /// Its rows are saved: from now on it stands for its page, and where only the last is kept the others go.
    func settle(_ entry: Entry, of scope: ResourceScope) {
        var saved = entry
        saved.isSaved = true
        let folder = place(of: scope, entry.part)
        // If it keeps its name, a replay maps it once more, and nothing else.
        guard rename(folder.appendingPathComponent(entry.name).path, folder.appendingPathComponent(saved.name).path) == 0 else { return }
        let (outdated, tooMany) =
            change(scope) { shelf -> ([Entry], [Entry]) in
                let isLast = shelf.rule.raw == .last
                let before = shelf.take(Place(part: entry.part, slot: entry.slot)) { isLast || [entry.name, saved.name].contains($0.name) }
                shelf.add(saved)
                let limit = shelf.rule.rawMax.bytes
                // A little more than it must be, so that not every page looks for the oldest.
                let tooMany = shelf.size > limit ? shelf.shrink(to: limit - limit / 16) : []
                return (before.filter { ![entry.name, saved.name].contains($0.name) }, tooMany)
            } ?? ([], [])
        remove(outdated + tooMany, of: scope)
        if tooMany.contains(where: { $0.run == entry.run }) {
            tellOnce(scope, "the bodies of one listing need more room than schema.raw_max: the first of them are not kept")
        }
    }

    private func tellOnce(_ scope: ResourceScope, _ reason: String) {
        if state.withLock({ $0.isTold.insert(scope.whole).inserted }) { tell(scope.whole, reason) }
    }

    /// Whether a body is kept that is known to be mapped.
    func has(_ slot: String, of scope: ResourceScope) -> Bool {
        change(scope) { $0.entries[Place(part: Self.part(scope), slot: slot)]?.contains(where: \.isSaved) == true } ?? false
    }

    // MARK: Bodies that go

    /// A page is what it was when it was saved: what came in between and could not be mapped is no page.
    func confirm(_ slot: String, of scope: ResourceScope) {
        remove(change(scope) { $0.take(Place(part: Self.part(scope), slot: slot)) { !$0.isSaved } } ?? [], of: scope)
    }

    /// The pages that are in no listing any more, or whose rows have gone. What is kept for its own sake stays, but not to be mapped one day.
    func forget(_ requests: Set<String>, of scope: ResourceScope) {
        let part = Self.part(scope), slots = requests.map { ArchivedHead.slot($0) }
        let gone = change(scope) { shelf -> [Entry] in
            let keepsAll = shelf.rule.raw == .all
            return slots.flatMap { shelf.take(Place(part: part, slot: $0)) { !keepsAll || !$0.isSaved } }
        }
        remove(gone ?? [], of: scope)
    }

    /// A listing is complete, and has these pages. One that is the resource as a whole has no parts any more.
    func retain(_ slots: Set<String>, of scope: ResourceScope) {
        let part = Self.part(scope)
        let gone = change(scope) { shelf -> [Entry] in
            let keepsAll = shelf.rule.raw == .all
            return shelf.take { ($0.part == part ? !slots.contains($0.slot) : part.isEmpty) && (!keepsAll || !$0.isSaved) }
        }
        remove(gone ?? [], of: scope)
    }

    /// A resource has these parts.
    func retain(parts: [String], of scope: ResourceScope) {
        let parts = Set(parts.map(ArchivedHead.name))
        let gone = change(scope) { shelf in shelf.take { !parts.contains($0.part) } } ?? []
        remove(gone, of: scope)
        for part in Set(gone.map(\.part)) where !part.isEmpty { rmdir(place(of: scope, part).path) }
    }

    /// Nothing is there any more of what was listed.
    func drop(_ scope: ResourceScope) {
        let part = Self.part(scope)
        remove(change(scope) { $0.take { $0.part == part } } ?? [], of: scope)
    }

    /// The disk is full: bodies go before anything waits for room, the oldest first.
    ///
    /// - Parameter least: how many bytes shall be free.
    func makeRoom(_ least: Int) {
        for scope in state.withLock({ $0.shelves.keys.sorted() }) {
            while let free = DiskSpace.free(at: store), free < least, let size = state.withLock({ $0.shelves[scope]?.size }), size > 0 {
                let gone = change(scope) { $0.shrink(to: max(0, size - max(least - free, size / 16))) } ?? []
                if gone.isEmpty { break }
                remove(gone, of: scope)
                tellOnce(scope, "bodies go, since the disk has less room than store.min_free_disk")
            }
        }
    }

    // MARK: Bodies that are read

    /// A body that is to be mapped once more.
    struct Body: Sendable {
        /// Of which of the scopes that were asked for it is.
        let part: Int
        let entry: Entry
        let path: String
    }

    /// What there is to be mapped once more of these parts of one resource, or of all of it, in the order in which it came: of each page the newest that
    /// was saved, and what came after it. Of parts that one run has read, that one is before others whose first page came before theirs.
    func bodies(of scopes: [ResourceScope]) -> [Body] {
        guard let scope = scopes.first else { return [] }
        let parts = Dictionary(scopes.enumerated().map { (Self.part($1), $0) }) { first, _ in first }
        let entries =
            change(scope) { shelf in
                shelf.entries.filter { parts[$0.key.part] != nil }.values.flatMap { entries -> [Entry] in
                    let saved = entries.filter(\.isSaved).max(by: Entry.isBefore)
                    return entries.filter { entry in
                        entry == saved || !entry.isSaved && saved.map { Entry.isBefore($0, entry) } != false
                    }
                }
            } ?? []
        let bodies = entries.sorted(by: Entry.isBefore).map { entry in
            Body(part: parts[entry.part] ?? 0, entry: entry, path: place(of: scope, entry.part).appendingPathComponent(entry.name).path)
        }
        return scopes.count < 2 ? bodies : inTurn(bodies)
    }

    /// Puts the bodies of several parts into the order in which a run read the parts.
    private func inTurn(_ bodies: [Body]) -> [Body] {
        struct Reading: Hashable {
            let run: Int64
            let part: Int
        }
        var begun: [Reading: Date] = [:]
        for body in bodies {
            let reading = Reading(run: body.entry.run, part: body.part)
            if begun[reading] == nil { begun[reading] = (try? ArchivedBody(body.path))?.head.receivedAt ?? .distantPast }
        }
        func turn(_ body: Body) -> (Int64, Date, Int, Int) {
            let run = body.entry.run
            return (run, begun[Reading(run: run, part: body.part)] ?? .distantPast, body.part, body.entry.page)
        }
        return bodies.sorted { turn($0) < turn($1) }
    }

    /// A body is good for nothing.
    func discard(_ entry: Entry, of scope: ResourceScope) {
        remove(change(scope) { $0.take(Place(part: entry.part, slot: entry.slot)) { $0 == entry } } ?? [], of: scope)
    }
}
