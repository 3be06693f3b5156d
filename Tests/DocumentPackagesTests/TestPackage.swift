import Foundation
import OpenCoreData

@testable import DocumentPackages

/// A folder with a document, whose store has numbers, and with the backups of it.
final class TestPackage: Sendable {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("packages-\(UUID().uuidString.prefix(8))")
    /// 2025-01-01.
    static let start = Date(timeIntervalSince1970: 1_735_689_600)

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// With a document that has these numbers, and is closed.
    static func with(_ numbers: Int...) async throws -> TestPackage {
        let package = try TestPackage(), document = try package.open()
        try package.insert(numbers, into: document)
        try await document.close()
        return package
    }

    var path: String { folder.appendingPathComponent("document").path }
    var store: String { "\(path)/StoreContent/persistentStore" }
    var backups: BackupFolder { BackupFolder(folder.appendingPathComponent("backups").path) }

    func backup(version: String = "1.2.3", leavesFree: Int64 = 0) -> DocumentBackup {
        DocumentBackup(of: path, in: backups, version: version, leavesFree: leavesFree)
    }

    func restore(_ backup: String, version: String = "1.2.3") throws -> DocumentRestore.Result {
        try DocumentRestore(path, from: backup, version: version).run(at: Self.start)
    }

    private static var model: NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties = [NSAttributeDescription(name: "number", type: .integer64)]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    func open(_ path: String? = nil) throws -> UIManagedDocument {
        let document = UIManagedDocument(fileURL: URL(fileURLWithPath: path ?? self.path, isDirectory: true), model: Self.model)
        try FileManager.default.createDirectory(at: document.fileURL, withIntermediateDirectories: true)
        try document.openStore(creating: true)
        return document
    }

    /// Commits more numbers.
    func insert(_ numbers: [Int], into document: UIManagedDocument) throws {
        let root = document.root
        try root.performAndWait {
            for number in numbers {
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: root).setValue(number, forKey: "number")
            }
            try root.save()
        }
    }

    /// What the store of a package has, as whoever opens it finds it.
    func numbers(_ path: String? = nil) async throws -> [Int] {
        let document = try open(path), root = document.root
        let numbers = try root.performAndWait {
            try root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).compactMap { $0.value(forKey: "number") as? Int }.sorted()
        }
        try await document.close()
        return numbers
    }

    /// The names in a folder, in order.
    func names(_ path: String) -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    /// Writes over the middle of a file.
    func spoil(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        for page in 1..<4 {
            try file.seek(toOffset: UInt64(page * 4096))
            try file.write(contentsOf: [UInt8](repeating: 0xFF, count: 4096))
        }
        try file.close()
    }
}
