import Foundation
import Glibc

/// A package that is made beside its place and put there when it is whole.
final class NewPackage {
    /// Its place.
    let url: URL
    /// Where it is until then.
    let temporary: URL
    private let replaces: Bool
    /// Where that is whose place it has taken. Not hidden: if the process ends now, it is all there is of it.
    private var former: URL?
    private var isPut = false

    private var folder: URL { url.deletingLastPathComponent() }

    /// Makes an empty one, with a folder for stores. Throws as `check` does, and what the disk says.
    ///
    /// - Parameters:
    ///   - replaces: whether a document may be there already.
    ///   - own: the package whose content goes there.
    init(_ url: URL, replacing replaces: Bool, insteadOf own: URL) throws {
        try Self.check(url, replacing: replaces, insteadOf: own)
        self.url = url
        self.replaces = replaces
        temporary = url.deletingLastPathComponent().appendingPathComponent(".document-\(UUID().uuidString)", isDirectory: true)
        do {
            try FileManager.default.createDirectory(at: temporary.appendingPathComponent("StoreContent"), withIntermediateDirectories: true)
            // Who may not look into the one may not look into the other.
            var status = stat()
            if stat(own.path, &status) == 0 { _ = chmod(temporary.path, status.st_mode & 0o7777) }
        } catch {
            discard()
            throw error
        }
    }

    /// Throws where a document can't go: 518 for what is no file, 514 for a place within the document or around it, 516 where something is that is
    /// not to be replaced, or is no document, 134080 where another document keeps a push journal.
    static func check(_ url: URL, replacing replaces: Bool, insteadOf own: URL) throws {
        guard url.isFileURL else {
            throw NSError.coreData(.fileWriteUnsupportedScheme, "A document can't be saved to \(url.absoluteString): a file URL is needed.")
        }
        let new = real(url.standardizedFileURL), old = real(own.standardizedFileURL)
        if new == old || new.hasPrefix(old + "/") || (old + "/").hasPrefix(new == "/" ? new : new + "/") {
            throw NSError.coreData(
                .fileWriteInvalidFileName,
                "The document \(own.path) can't be saved to \(url.path), which is within it or around it. Choose another place.")
        }
        var status = stat()
        guard lstat(url.path, &status) == 0 else { return }
        let names = try? FileManager.default.contentsOfDirectory(atPath: url.path)
        if names?.isEmpty == true { return }
        guard replaces else {
            throw NSError.coreData(
                .fileWriteFileExists, "\(url.path) exists already and is not replaced. Choose another place, or save with .forOverwriting.")
        }
        guard names?.contains("StoreContent") == true else {
            throw NSError.coreData(.fileWriteFileExists, "\(url.path) is no document and is not replaced. Choose another place.")
        }
        try checkIsUnlocked(url)
    }

    /// Links and all resolved, as far as the path leads to something.
    private static func real(_ url: URL) -> String {
        if let path = realpath(url.path, nil) {
            defer { free(path) }
            return String(cString: path)
        }
        let folder = url.deletingLastPathComponent()
        if folder.path == url.path { return url.path }
        let path = real(folder)
        return (path == "/" ? "" : path) + "/" + url.lastPathComponent
    }

    private static func checkIsUnlocked(_ package: URL) throws {
        let lock = package.appendingPathComponent("StoreContent/PushJournal/lock")
        let descriptor = open(lock.path, O_RDWR | O_CLOEXEC)
        if descriptor < 0 { return }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            throw NSError.coreData(
                .persistentStoreOpen, "Another document keeps the push journal of \(package.path): close it before it is replaced.")
        }
    }

    /// Puts it in its place. If it throws, what was there is there.
    func put() throws {
        for folder in [temporary.appendingPathComponent("StoreContent"), temporary] { try Disk.synchronize(folder: folder) }
        do {
            var status = stat()
            if replaces, lstat(url.path, &status) == 0 {
                let aside = folder.appendingPathComponent("\(url.lastPathComponent).replaced-\(UUID().uuidString)")
                _ = try Disk.checked("move \(url.path)") { rename(url.path, aside.path) }
                former = aside
            }
            // Goes over an empty folder, and over nothing else.
            _ = try Disk.checked("make \(url.path)") { rename(temporary.path, url.path) }
            isPut = true
            try Disk.synchronize(folder: folder)
        } catch {
            takeBack()
            throw error
        }
    }

    /// Takes it out of its place again, and puts back what was there. Nobody may have anything open in it.
    func takeBack() {
        if isPut { _ = rename(url.path, temporary.path) }
        isPut = false
        if let former { _ = rename(former.path, url.path) }
        former = nil
    }

    /// Takes it away.
    func discard() {
        takeBack()
        try? FileManager.default.removeItem(at: temporary)
    }

    /// Takes away what it has replaced.
    func finish() {
        if let former { try? FileManager.default.removeItem(at: former) }
        former = nil
    }
}
