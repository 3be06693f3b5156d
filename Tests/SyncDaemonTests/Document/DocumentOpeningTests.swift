import Foundation
import OpenCoreData
import SyncConfiguration
import SyncPipeline
import Synchronization
import Testing

@testable import SyncDaemon

/// What an error of the store means for the process, and so for whether the service manager starts it again.
@Suite struct DocumentOpeningTests {
    private static func status(_ sqlite: Int?, isMigrating: Bool) -> Int32 {
        let error = NSError(
            domain: NSCocoaErrorDomain, code: 134_080, userInfo: sqlite.map { [NSSQLiteErrorDomain: $0] } ?? [:])
        return DocumentOpening.failure(error, package: "/p", isMigrating: isMigrating).status.rawValue
    }

    @Test func aMigrationThatFailsIsNotTriedAgainUnlessTheDiskOrAnotherProgramHasAPart() {
        #expect(Self.status(1, isMigrating: false) == 70)
        #expect(Self.status(nil, isMigrating: false) == 70)
        #expect(Self.status(1, isMigrating: true) == 78)
        #expect(Self.status(nil, isMigrating: true) == 78)
        for (code, status) in [(5, 75), (13, 74), (10, 74), (11, 74), (14, 73)] as [(Int, Int32)] {
            #expect(Self.status(code, isMigrating: true) == status)
        }
    }

    /// A folder with the document of a configuration.
    private final class Package {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("opening-\(UUID().uuidString.prefix(8))")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: folder) }

        /// - Parameters:
        ///   - type: of an attribute; another one needs the table to be written anew.
        ///   - hasMore: whether there is another attribute, of which nothing is lost when it goes.
        func open(
            _ type: String, hasMore: Bool = false, mayMigrate: Bool = true, onMigration: @escaping @Sendable (Double) -> Bool = { _ in true }
        ) throws -> OpenedDocument {
            let path = folder.appendingPathComponent("document").path
            let text = TestConfiguration.text.replacing("version = 1\n", with: "version = 1\n[document]\npath = \"\(path)\"\n")
                .replacing("name = { type = \"string\" }", with: "name = { type = \"\(type)\" }" + (hasMore ? "\nmore = { type = \"string\" }" : ""))
            let configuration = try ConfigurationReader(
                path: "/c/cisternd.toml", files: ConfigurationTexts(["/c/cisternd.toml": text])
            ).configuration()
            return try DocumentOpening(configuration: configuration).open(
                model: try SyncPipeline.model(for: configuration), mayMigrate: mayMigrate, onMigration: onMigration)
        }

        var lock: String? { try? String(contentsOf: folder.appendingPathComponent("document/.lock"), encoding: .utf8) }
    }

    private static func filled() async throws -> Package {
        let package = try Package(), opened = try package.open("int32")
        let root = opened.document.root
        root.performAndWait {
            for number in 0..<3 {
                let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: root)
                country.setValue("\(number)", forKey: "code")
                country.setValue(number, forKey: "name")
            }
        }
        try await opened.close()
        return package
    }

    private static func count(_ opened: OpenedDocument) throws -> Int {
        let root = opened.document.root
        return try root.performAndWait { try root.count(for: NSFetchRequest<NSManagedObject>(entityName: "Country")) }
    }

    @Test func aMigrationThatIsGivenUpLeavesThePackageAsACleanStopDoes() async throws {
        let package = try await Self.filled(), asked = Atomic(0)
        #expect(throws: StopWanted.self) {
            try package.open("string") { _ in asked.add(1, ordering: .relaxed).oldValue == 0 }
        }
        #expect(asked.load(ordering: .relaxed) == 2)
        #expect(package.lock == "clean\n")
        let opened = try package.open("int32", mayMigrate: false)
        #expect(try Self.count(opened) == 3 && opened.migration == nil)
        try await opened.close()
    }

    @Test func aWayBackDoesNotMigrate() async throws {
        let package = try await Self.filled()
        try await package.open("int32", hasMore: true).close()
        let failure = #expect(throws: StartFailure.self) { try package.open("int32", mayMigrate: false) }
        #expect(failure?.status == .temporaryFailure)
        let opened = try package.open("int32", hasMore: true, mayMigrate: false)
        #expect(try Self.count(opened) == 3)
        try await opened.close()
    }
}
