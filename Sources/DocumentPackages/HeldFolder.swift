import Foundation
import Glibc
import OpenCoreData

/// A folder that is held open, so that it stays the same one whatever its name leads to. What is done in it follows no links: where root works in a folder of
/// somebody else, that one may exchange names at any time.
final class HeldFolder: Sendable {
    private let descriptor: Int32
    /// For messages, and for what can only be told by a path.
    let path: String

    init(_ path: String) throws(PackageFailure) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        self.path = path
        guard descriptor >= 0 else { throw PackageFailure("cannot open \(path)") }
    }

    /// The package that is locked.
    init(_ lock: DocumentLock, at path: String) throws(PackageFailure) {
        descriptor = fcntl(lock.folder, F_DUPFD_CLOEXEC, 0)
        self.path = path
        guard descriptor >= 0 else { throw PackageFailure("cannot open \(path)") }
    }

    /// A folder in another one.
    ///
    /// - Parameter isNew: it is made, for nobody else to look into, and must not be there yet.
    init(_ name: String, in folder: HeldFolder, isNew: Bool = false) throws(PackageFailure) {
        path = "\(folder.path)/\(name)"
        if isNew, mkdirat(folder.descriptor, name, 0o700) != 0 {
            descriptor = -1
            throw PackageFailure("cannot create \(path)")
        }
        descriptor = openat(folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw PackageFailure("cannot open \(path)") }
        // Somebody else may have put another one in its place.
        guard !isNew || status.st_uid == geteuid() else { throw PackageFailure("cannot create \(path)", system: EPERM) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Of the folder itself.
    var status: stat {
        var status = stat()
        fstat(descriptor, &status)
        return status
    }

    /// Of what has a name in it, of a link its own; nil: nothing has.
    func status(_ name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// The names in it.
    func names() throws(PackageFailure) -> [String] {
        let again = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0, let list = fdopendir(again) else { throw PackageFailure("cannot read \(path)") }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    // MARK: Changes

    /// Gives something another name, in this folder or another one. `false` leaves the reason in `errno`.
    func move(_ name: String, to folder: HeldFolder, as newName: String) -> Bool { renameat(descriptor, name, folder.descriptor, newName) == 0 }

    /// Lets what has a name here and what has it in another folder change places, in one step. Throws as `Disk.exchange` does.
    func exchange(_ name: String, with folder: HeldFolder) throws { try Disk.exchange(name, in: descriptor, and: folder.descriptor) }

    /// Removes what has a name, with all that is in it; nothing where there is nothing.
    func remove(_ name: String) throws(PackageFailure) {
        if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return }
        guard errno == EISDIR else { throw PackageFailure("cannot remove \(path)/\(name)") }
        let folder = try HeldFolder(name, in: self)
        for inner in try folder.names() { try folder.remove(inner) }
        guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 else { throw PackageFailure("cannot remove \(path)/\(name)") }
    }

    /// Copies a file into it, for nobody else to read.
    func copy(_ source: String, as name: String) throws(PackageFailure) {
        let from = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard from >= 0 else { throw PackageFailure("cannot read \(source)") }
        defer { close(from) }
        let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw PackageFailure("cannot create \(path)/\(name)") }
        defer { close(file) }
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(from, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw PackageFailure("cannot read \(source)") }
            if count == 0 { return }
            try write(piece[..<count], to: file, name)
        }
    }

    /// Writes a file and brings it to the disk.
    func write(_ text: String, as name: String) throws(PackageFailure) {
        let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw PackageFailure("cannot create \(path)/\(name)") }
        defer { close(file) }
        try write(Array(text.utf8)[...], to: file, name)
        guard fsync(file) == 0 else { throw PackageFailure("cannot write \(path)/\(name)") }
    }

    private func write(_ bytes: ArraySlice<UInt8>, to file: Int32, _ name: String) throws(PackageFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw PackageFailure("cannot write \(path)/\(name)") }
            rest = rest.dropFirst(count)
        }
    }

    /// The beginning of a small file; nil: there is none.
    func text(_ name: String) -> String? {
        let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    // MARK: Readers

    /// Who may read the folder, which is the content of a package, and the files in it: as those of another package.
    ///
    /// - Parameter owner: whose they are; nil: whoever made them, as far as the group allows.
    func admit(as model: PackagePlaces, owner: uid_t?) throws(PackageFailure) {
        let folderLike = PackagePlaces.status(model.content) ?? PackagePlaces.status(model.folder), fileLike = PackagePlaces.status(model.store)
        for name in try names() {
            let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { throw PackageFailure("cannot open \(path)/\(name)") }
            defer { close(file) }
            let mode = fileLike.map { $0.st_mode & 0o777 } ?? 0o640
            try Self.admit(file, "\(path)/\(name)", as: fileLike ?? folderLike, mode: mode, owner: owner)
        }
        // Last: from here on somebody else may reach what is in it.
        try Self.admit(descriptor, path, as: folderLike, mode: folderLike.map { $0.st_mode & 0o7777 } ?? 0o750, owner: owner)
    }

    private static func admit(_ descriptor: Int32, _ path: String, as model: stat?, mode: mode_t, owner: uid_t?) throws(PackageFailure) {
        var own = stat()
        fstat(descriptor, &own)
        if let model, model.st_gid != own.st_gid || owner != nil {
            let code = fchown(descriptor, owner ?? uid_t.max, model.st_gid)
            // Without the right to hand it over, its readers are whoever the folder admits.
            if code != 0, owner != nil { throw PackageFailure("cannot give \(path) to the user of the document") }
        }
        guard fchmod(descriptor, mode) == 0 else { throw PackageFailure("cannot set the mode of \(path)") }
    }

    // MARK: The disk

    /// Makes the files in it durable, and their names.
    func synchronizeAll() throws(PackageFailure) {
        for name in try names() {
            let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { throw PackageFailure("cannot open \(path)/\(name)") }
            defer { close(file) }
            guard fsync(file) == 0 else { throw PackageFailure("cannot write \(path)/\(name)") }
        }
        try synchronize()
    }

    /// Makes the names in it durable. Some file systems can't do that for a folder and say so, which is no failure: they have nothing else to offer.
    func synchronize() throws(PackageFailure) {
        if fsync(descriptor) != 0, ![EINVAL, ENOTSUP].contains(errno) { throw PackageFailure("cannot write \(path)") }
    }
}
