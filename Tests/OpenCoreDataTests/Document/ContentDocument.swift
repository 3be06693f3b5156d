import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// A document with a text beside its store, which says what it is asked and fails when told to.
// What changes is guarded by a lock.
package final class ContentDocument: UIManagedDocument, @unchecked Sendable {
    struct Failure: Error {}

    enum Step: Hashable, Sendable {
        case asking, writing, reading
    }

    private struct State: Sendable {
        var text: String?
        var isOptional = false
        var calls: [String] = []
        var originals: [URL?] = []
        var errors: [NSError] = []
        var failing: Set<Step> = []
    }

    private let state = Mutex(State())
    private let memory: InMemoryStore?

    init(
        _ url: URL, model: NSManagedObjectModel = Company.model(), memory: InMemoryStore? = nil, clock: ManualDocumentClock = ManualDocumentClock()
    ) {
        self.memory = memory
        super.init(fileURL: url, model: model)
        self.clock = clock
    }

    /// What stands beside the store; nil: nothing is to be written.
    var text: String? {
        get { state.withLock { $0.text } }
        set { state.withLock { $0.text = newValue } }
    }
    /// Whether the text is given as an optional.
    var isOptional: Bool {
        get { state.withLock { $0.isOptional } }
        set { state.withLock { $0.isOptional = newValue } }
    }
    var failing: Set<Step> {
        get { state.withLock { $0.failing } }
        set { state.withLock { $0.failing = newValue } }
    }
    /// Each call, and whether it came on the main queue.
    var calls: [String] { state.withLock { $0.calls } }
    /// Where the content was before each writing.
    var originals: [URL?] { state.withLock { $0.originals } }
    var errors: [NSError] { state.withLock { $0.errors } }

    var contentURL: URL { fileURL.appendingPathComponent("AdditionalContent", isDirectory: true) }
    var written: String? { Self.written(in: fileURL) }

    static func written(in package: URL) -> String? {
        try? String(contentsOf: package.appendingPathComponent("AdditionalContent/text"), encoding: .utf8)
    }

    private func note(_ call: String, _ step: Step) throws {
        let isMain = MainQueue.isHere
        let fails = state.withLock { state in
            state.calls.append("\(call)\(isMain ? " on main" : "")")
            return state.failing.contains(step)
        }
        if fails { throw Failure() }
    }

    package override func readAdditionalContent(from absoluteURL: URL) throws {
        try note("read", .reading)
        text = try String(contentsOf: absoluteURL.appendingPathComponent("text"), encoding: .utf8)
    }

    package override func additionalContent(for absoluteURL: URL) throws -> Any {
        try note("ask for \(absoluteURL.deletingLastPathComponent().lastPathComponent)/\(absoluteURL.lastPathComponent)", .asking)
        if isOptional { return text as Any }
        return text ?? NSNull()
    }

    package override func writeAdditionalContent(_ content: Any, to absoluteURL: URL, originalContentsURL absoluteOriginalContentsURL: URL?) throws {
        state.withLock { $0.originals.append(absoluteOriginalContentsURL) }
        // Half of it is there when it fails.
        try Data().write(to: absoluteURL.appendingPathComponent("half"))
        try note("write", .writing)
        try FileManager.default.removeItem(at: absoluteURL.appendingPathComponent("half"))
        try Data((content as? String ?? "?").utf8).write(to: absoluteURL.appendingPathComponent("text"))
    }

    package override func configurePersistentStoreCoordinator(
        for storeURL: URL, ofType fileType: String, modelConfiguration: String?, storeOptions: [AnyHashable: Any]?
    ) throws {
        guard let memory else {
            return try super.configurePersistentStoreCoordinator(
                for: storeURL, ofType: fileType, modelConfiguration: modelConfiguration, storeOptions: storeOptions)
        }
        if !FileManager.default.fileExists(atPath: storeURL.path) { try Data().write(to: storeURL) }
        managedObjectContext.persistentStoreCoordinator?.add(memory)
    }

    package override func handleError(_ error: any Error, userInteractionPermitted: Bool) {
        state.withLock { $0.errors.append(error as NSError) }
        super.handleError(error, userInteractionPermitted: userInteractionPermitted)
    }
}

/// Tells the main queue from others, whichever thread it is on.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isHere: Bool { DispatchQueue.getSpecific(key: mark) == true }
}

/// A folder of packages, which goes with it.
final class DocumentFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("documents-\(UUID().uuidString)", isDirectory: true)

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func place(_ name: String) -> URL { url.appendingPathComponent(name, isDirectory: false) }

    /// What is in it, hidden files too.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    /// The keys of the items in a package, as a document that opens it reads them.
    func keys(in name: String) async throws -> [String] {
        let document = UIManagedDocument(fileURL: place(name), model: Company.model())
        try #require(await document.open())
        let main = document.managedObjectContext
        let keys = try await main.perform { () throws in try main.names("Item", "key") }
        try await document.close()
        return keys
    }

    /// A new document with one item that is saved.
    func made(
        _ name: String = "old.book", _ key: String = "first", clock: ManualDocumentClock = ManualDocumentClock()
    ) async throws -> ContentDocument {
        let document = ContentDocument(place(name), clock: clock)
        try #require(await document.save(to: document.fileURL, for: .forCreating))
        await document.insert(key)
        try await document.save()
        return document
    }
}

extension UIManagedDocument {
    func insert(_ key: String) async {
        let main = managedObjectContext
        await main.perform { _ = main.make("Item", ["key": key]) }
    }

    func keys() async throws -> [String] {
        let main = managedObjectContext
        return try await main.perform { () throws in try main.names("Item", "key") }
    }

    /// Returns when everything that was put on the main queue and the root's queue until now, and what that put there, has run.
    func settle() async {
        for _ in 0..<4 {
            await managedObjectContext.perform(schedule: .enqueued) {}
            await root.perform(schedule: .enqueued) {}
        }
    }
}
