import CSwiftRuntime
import Foundation
import Glibc

/// A file that is made under another name in its folder and put in its place when it is whole, so that nobody finds half of it there. It never
/// replaces another.
struct NewStoreFile {
    let url: URL
    /// What it is called until then.
    let temporary: URL

    /// Throws 134160 where there is a file already, or no place for one.
    init(_ url: URL) throws {
        guard url.isFileURL else { throw Self.failure("\(url.absoluteString) is not a file URL; a SQLite store needs one.") }
        let folder = url.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: folder.path) else {
            throw Self.failure("\(url.path) can't be created: the directory \(folder.path) does not exist. Create it first.")
        }
        if Self.isThere(url.path) { throw Self.isTaken(url) }
        // SQLite would take what somebody else's log says for a part of the new file.
        for suffix in ["-wal", "-journal"] where Self.isThere(url.path + suffix, andNotEmpty: true) {
            throw Self.failure("\(url.path) can't be created: \(url.lastPathComponent + suffix) of an earlier file is still there. Move it away.")
        }
        self.url = url
        temporary = folder.appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
    }

    /// Puts the file in its place. Throws 134160 if there is one by now, and what the disk says.
    func put() throws {
        try Disk.synchronize(fileIfAny: temporary)
        if link(temporary.path, url.path) == 0 {
            unlink(temporary.path)
        } else if errno == EEXIST {
            throw Self.isTaken(url)
        } else {
            // A file system without links: what is renamed over is an empty file of our own.
            let descriptor = open(url.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
            if descriptor < 0 && errno == EEXIST { throw Self.isTaken(url) }
            close(try Disk.checked("make \(url.path)") { descriptor })
            do { _ = try Disk.checked("make \(url.path)") { rename(temporary.path, url.path) } } catch {
                unlink(url.path)
                throw error
            }
        }
        do { try Disk.synchronize(folder: url.deletingLastPathComponent()) } catch {
            unlink(url.path)
            throw error
        }
    }

    /// Takes away what was not put in its place.
    func discard() { Self.remove(temporary) }

    /// Takes away what was put in its place.
    func remove() { Self.remove(url) }

    /// Removes a file and what SQLite keeps beside it.
    static func remove(_ url: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
    }

    private static func isThere(_ path: String, andNotEmpty: Bool = false) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && (!andNotEmpty || status.st_size > 0)
    }

    private static func isTaken(_ url: URL) -> NSError {
        failure("\(url.path) exists already and is not overwritten. Choose another place, or move that file away. Nothing was changed.")
    }

    private static func failure(_ sentence: String) -> NSError { .coreData(.migrationManagerDestinationStore, sentence) }
}

/// System calls on files, whose failures are thrown.
package enum Disk {
    /// The result of a system call, or what it says as a POSIX error.
    ///
    /// - Parameter doing: what was tried, for the sentence; asked for only after `errno` was read.
    static func checked(_ doing: @autoclosure () -> String, _ call: () -> Int32) throws -> Int32 {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        throw NSError(
            domain: NSPOSIXErrorDomain, code: Int(code),
            userInfo: [NSLocalizedDescriptionKey: "Can't \(doing()): \(String(cString: strerror(code)))."])
    }

    /// Makes the names in a folder durable. Throws a POSIX error.
    package static func synchronize(folder: URL) throws {
        let descriptor = try checked("open \(folder.path)") { Glibc.open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        _ = try checked("synchronize \(folder.path)") { fsync(descriptor) }
    }

    /// Lets two folders of one name change places, in one step: whenever the power fails, both are there. Throws a POSIX error; EINVAL or ENOSYS where the file
    /// system has no such step.
    ///
    /// - Parameters:
    ///   - name: that of both.
    ///   - folder: a descriptor of the folder that one of them is in.
    ///   - other: of the folder of the other one.
    package static func exchange(_ name: String, in folder: Int32, and other: Int32) throws {
        _ = try checked("exchange two folders \(name)") { renameat2(folder, name, other, name, UInt32(EXCHANGES_NAMES)) }
    }

    /// Makes what was written to a file by anybody durable; a file that is not there is. Throws a POSIX error.
    package static func synchronize(fileIfAny url: URL) throws {
        let descriptor = Glibc.open(url.path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 && errno == ENOENT { return }
        _ = try checked("open \(url.path)") { descriptor }
        defer { close(descriptor) }
        _ = try checked("synchronize \(url.path)") { fsync(descriptor) }
    }
}

/// A file, whatever it is called.
struct FilePlace: Hashable, Sendable {
    let device: UInt64
    let number: UInt64

    /// Nil: there is none at this path.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}

/// A part of what a store holds, as values, for a store that takes it over.
package struct StoreContents: Sendable {
    /// Rows with their versions.
    package var rows: [FetchedRow] = []
    /// Members of to-manys that no foreign key tells: many-to-many, or without an inverse.
    package var pairs: [RelationshipKey: [NSManagedObjectID]] = [:]
    /// Members of ordered to-manys, in order.
    package var orders: [RelationshipKey: [NSManagedObjectID]] = [:]

    package init() {}
}

extension NSPersistentStore {
    /// How many objects a part has.
    private static var partSize: Int { 1 << 14 }

    /// Hands out all that the store holds in parts: the rows of every entity, then what is not in rows. Throws what reading throws.
    package final func forEachPart(_ body: (StoreContents) throws -> Void) throws {
        var owners: [ArraySlice<NSManagedObjectID>] = []
        for entity in entities where !entity.isAbstract {
            var plan = FetchPlan(entity: entity)
            plan.includesSubentities = false
            plan.includesRows = false
            let ids = try fetch(plan).map(\.id)
            let isRelated = entity.layout.toManys.contains { !$0.isKeptInMembers || $0.isOrdered }
            for start in stride(from: 0, to: ids.count, by: Self.partSize) {
                let part = ids[start..<min(start + Self.partSize, ids.count)], rows = try rows(for: Array(part))
                var contents = StoreContents()
                contents.rows = part.compactMap { id in rows[id].map { FetchedRow(id: id, row: $0) } }
                try body(contents)
                if isRelated { owners.append(part) }
            }
        }
        for part in owners { try body(relationships(of: part)) }
    }

    private func relationships(of owners: ArraySlice<NSManagedObjectID>) throws -> StoreContents {
        var contents = StoreContents()
        guard let layout = owners.first?.layout else { return contents }
        for (number, relationship) in layout.toManys.enumerated() where !relationship.isKeptInMembers || relationship.isOrdered {
            let isPairs = relationship.inverseRelationship?.isToMany ?? true
            for (key, found) in try related(owners.map { RelationshipKey(owner: $0, toMany: number) }) where !found.isEmpty {
                let members = found.map(\.id)
                if isPairs { contents.pairs[key] = members }
                if relationship.isOrdered { contents.orders[key] = members }
            }
        }
        return contents
    }
}

extension NSError {
    /// A counter in a store has no number left to go on with: nothing counts that far, so somebody else wrote it.
    ///
    /// - Parameters:
    ///   - counter: what is counted, and where that stands.
    ///   - remedy: what it may be set to.
    static func exhausted(_ counter: String, in store: String, at number: Int64, remedy: String) -> NSError {
        .coreData(
            .persistentStoreSave,
            "\(store) can't go on counting \(counter), which is \(number): no program of ours counts that far, so another one wrote it. \(remedy)")
    }
}
