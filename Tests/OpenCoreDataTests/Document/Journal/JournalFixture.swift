import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// A document over a SQLite store (or one in memory that outlives it) that keeps a push journal and saves only when told to.
// What changes is guarded by a lock.
package final class JournalDocument: UIManagedDocument, @unchecked Sendable {
    private let seen = Mutex<[NSError]>([])
    private let memory: InMemoryStore?
    private let whenStoresAreOpen: (@Sendable () throws -> Void)?

    /// - Parameter whenStoresAreOpen: called in the middle of opening, before the journal is looked at.
    init(
        _ url: URL, _ model: NSManagedObjectModel, _ journaling: PushJournaling = .written, memory: InMemoryStore? = nil,
        whenStoresAreOpen: (@Sendable () throws -> Void)? = nil
    ) {
        self.memory = memory
        self.whenStoresAreOpen = whenStoresAreOpen
        super.init(fileURL: url, model: model)
        clock = ManualDocumentClock()
        pushJournaling = journaling
    }

    package override func configurePersistentStoreCoordinator(
        for storeURL: URL, ofType fileType: String, modelConfiguration: String?, storeOptions: [AnyHashable: Any]?
    ) throws {
        guard let memory else {
            try super.configurePersistentStoreCoordinator(
                for: storeURL, ofType: fileType, modelConfiguration: modelConfiguration, storeOptions: storeOptions)
            try whenStoresAreOpen?()
            return
        }
        if !FileManager.default.fileExists(atPath: storeURL.path) { try Data().write(to: storeURL) }
        managedObjectContext.persistentStoreCoordinator?.add(memory)
    }

    package override func handleError(_ error: any Error, userInteractionPermitted: Bool) {
        seen.withLock { $0.append(error as NSError) }
        super.handleError(error, userInteractionPermitted: userInteractionPermitted)
    }

    /// What reached `handleError`.
    var errors: [NSError] { seen.withLock { $0 } }

    /// Runs a block in a new worker and saves it.
    @discardableResult
    func push<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = managedObjectContext
        return try worker.performAndWait {
            let result = try body(worker)
            try worker.save()
            return result
        }
    }

    /// Runs a block in a worker that is not saved.
    func look<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = managedObjectContext
        return try worker.performAndWait { try body(worker) }
    }

    /// Hands what the main context has to the root, without a commit.
    func pushMain() async throws {
        let main = managedObjectContext
        try await main.perform { try main.save() }
    }

    var journalFiles: [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: pushJournalURL.path)) ?? []
        return names.filter { $0.hasSuffix(".pushes") }.sorted().map { pushJournalURL.appendingPathComponent($0) }
    }

    var keptAsideURL: URL { pushJournalURL.appendingPathComponent("KeptAside") }

    var keptAside: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: keptAsideURL.path)) ?? []).sorted() }

    /// What stands in the files that were kept aside.
    func textAside() throws -> String {
        try keptAside.map { try String(contentsOf: keptAsideURL.appendingPathComponent($0), encoding: .utf8) }.joined()
    }
}

/// A folder of documents with one model. What a crash leaves is what the files are at the time: a copy of them.
final class JournalFixture {
    let folder: URL
    let model: NSManagedObjectModel
    private var count = 0

    init(_ model: NSManagedObjectModel = Company.model()) throws {
        self.model = model
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("journal-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func opened(_ journaling: PushJournaling = .written, memory: InMemoryStore? = nil) throws -> JournalDocument {
        try made(journaling, memory: memory) { _ in }
    }

    /// A new document that is changed before it is opened.
    func made(
        _ journaling: PushJournaling = .written, memory: InMemoryStore? = nil, _ prepare: (JournalDocument) -> Void
    ) throws -> JournalDocument {
        count += 1
        let document = JournalDocument(folder.appendingPathComponent("\(count)"), model, journaling, memory: memory)
        prepare(document)
        try document.openStore(creating: true)
        return document
    }

    /// The package as a process that is killed now would leave it.
    func crashed(_ document: JournalDocument) throws -> URL {
        _ = document.pushJournalSize
        count += 1
        let url = folder.appendingPathComponent("\(count)")
        try FileManager.default.copyItem(at: document.fileURL, to: url)
        return url
    }

    /// Changes the bytes of the one file of entries in a package, and returns its name.
    @discardableResult
    func rewriteEntries(of url: URL, _ change: (inout Data) throws -> Void) throws -> String {
        let file = try #require(JournalDocument(url, model).journalFiles.first)
        var bytes = try Data(contentsOf: file)
        try change(&bytes)
        try bytes.write(to: file)
        return file.lastPathComponent
    }

    /// The bytes of a file of entries with other payloads, as if they had been written so.
    func sealed(_ bytes: Data, _ payload: (Int, inout [UInt8]) -> Void) throws -> Data {
        let bytes = [UInt8](bytes), end = try #require(try PushJournalHeader.read(bytes)).end
        var result = Array(bytes[..<end])
        for (index, frame) in PushFrame.read(bytes[end...]).frames.enumerated() {
            var changed = Array(frame.payload)
            payload(index, &changed)
            result += PushFrame.bytes(frame.kind, frame.number, changed)
        }
        return Data(result)
    }

    /// The document that the next process opens.
    func reopened(
        _ url: URL, _ journaling: PushJournaling = .written, memory: InMemoryStore? = nil, _ prepare: (JournalDocument) -> Void = { _ in }
    ) throws -> JournalDocument {
        let document = JournalDocument(url, model, journaling, memory: memory)
        prepare(document)
        try document.openStore(creating: false)
        return document
    }

    /// The document as it is after a crash now and the start of another process.
    func recovered(_ document: JournalDocument, memory: InMemoryStore? = nil) throws -> JournalDocument {
        try reopened(try crashed(document), memory: memory)
    }
}

extension NSManagedObjectContext {
    /// The values of a property of all objects of an entity that have one, sorted.
    func values(_ entity: String, _ key: String) throws -> [String] { try all(entity).compactMap { $0.value(forKey: key) as? String }.sorted() }
}
