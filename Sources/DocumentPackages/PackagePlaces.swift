import Foundation
import Glibc
import OpenCoreData

/// What lies where in a document's package, and in a backup, which is one.
struct PackagePlaces: Sendable {
    /// The folder of the store, and of what belongs to it.
    static let contentName = "StoreContent"

    let folder: String

    init(_ folder: String) { self.folder = folder }

    var content: String { "\(folder)/\(Self.contentName)" }
    var store: String { "\(content)/\(UIManagedDocument.persistentStoreName)" }

    /// Bytes of the store and of its log; nil: there is no store.
    var size: Int64? {
        guard let size = Self.size(of: store) else { return nil }
        return size + (Self.size(of: store + "-wal") ?? 0)
    }

    /// Of a file, and of nothing else.
    static func size(of path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// How many bytes an unprivileged user can still write on the disk of a folder.
    static func free(_ folder: String) -> Int64? {
        var room = statvfs()
        guard statvfs(folder, &room) == 0 else { return nil }
        return Int64(clamping: UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize)).partialValue)
    }

    /// Makes everything in the content durable, and the names of it.
    func synchronize() throws {
        let url = URL(fileURLWithPath: content)
        for name in try FileManager.default.contentsOfDirectory(atPath: content) {
            try Disk.synchronize(fileIfAny: url.appendingPathComponent(name))
        }
        for folder in [url, URL(fileURLWithPath: folder)] { try Self.synchronize(folder: folder) }
    }

    /// Some file systems can't do that for a folder and say so, which is no failure: they have nothing else to offer.
    static func synchronize(folder: URL) throws {
        do { try Disk.synchronize(folder: folder) } catch let error as NSError
            where error.domain == NSPOSIXErrorDomain && [EINVAL, ENOTSUP].contains(Int32(clamping: error.code))
        {}
    }
}
