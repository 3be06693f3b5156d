import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

@Suite struct SQLiteStoreCopyTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID().uuidString)")

    /// A store that is open, and where its copy goes.
    private func open() throws -> (coordinator: NSPersistentStoreCoordinator, store: URL, copy: URL) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model()), url = folder.appendingPathComponent("store")
        _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        return (coordinator, url, folder.appendingPathComponent("copied"))
    }

    private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasPrefix("copied") } }

    @Test func aCopyIsTheSameStoreInOneFileThatNeedsNoLog() throws {
        let (coordinator, store, copy) = try open()
        defer { try? FileManager.default.removeItem(at: folder) }
        try SQLiteStoreCopy.make(of: store, at: copy) { true }
        let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: copy)
        #expect(found[NSStoreUUIDKey] as? String == coordinator.persistentStores.first?.identifier)
        #expect(try SQLiteStoreCopy.knowsItsModel(copy))
        // Of the file's format: who reads and who writes it need not know of a write-ahead log.
        let header = try FileHandle(forReadingFrom: copy).read(upToCount: 20)
        #expect(header.map { Array($0[18..<20]) } == [1, 1])
        #expect(names == ["copied"])
    }

    @Test func aCopyThatIsGivenUpLeavesNothing() throws {
        let (coordinator, store, copy) = try open()
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(throws: CocoaError.self) { try SQLiteStoreCopy.make(of: store, at: copy) { false } }
        #expect(names == [])
        withExtendedLifetime(coordinator) {}
    }
}
