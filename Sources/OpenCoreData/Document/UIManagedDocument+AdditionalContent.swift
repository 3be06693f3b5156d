import Foundation
import Glibc

/// What a subclass keeps beside the store: in a folder of the package, which is only ever replaced by a whole one.
extension UIManagedDocument {
    static func contentURL(in package: URL) -> URL { package.appendingPathComponent("AdditionalContent", isDirectory: true) }

    /// Has the subclass read what is there. Throws what it throws.
    func readContent() throws {
        let url = Self.contentURL(in: fileURL)
        AdditionalContentDraft.recover(url)
        guard FilePlace(url.path) != nil else { return }
        try root.performAndWait { () throws -> Void in try readAdditionalContent(from: url) }
    }

    /// Has the subclass write what it answered, beside what is there. Nil: there is nothing to write. Throws what it threw or throws, and what the
    /// disk says.
    func writeDraft(_ asked: AskedContent) throws -> AdditionalContentDraft? {
        guard let content = try asked.content() else { return nil }
        let package = fileURL
        if documentState.contains(.closed) {
            throw NSError.coreData(
                .persistentStoreSave, "The document \(package.path) is closed: its additional content was not written. Open it and save again.")
        }
        let draft = AdditionalContentDraft(of: Self.contentURL(in: package))
        do {
            try write(content, into: draft.folder)
        } catch {
            draft.discard()
            throw error
        }
        return draft
    }

    /// Returns when the disk has it.
    func write(_ content: Any, into folder: URL) throws {
        let original = Self.contentURL(in: fileURL)
        AdditionalContentDraft.recover(original)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try writeAdditionalContent(content, to: folder, originalContentsURL: FilePlace(original.path) == nil ? nil : original)
        try AdditionalContentDraft.synchronize(folder)
    }
}

/// What a subclass wants written beside the store, as it said on the main queue.
struct AskedContent {
    /// Nothing is to be written.
    static var nothing: AskedContent { AskedContent(.success(NSNull())) }

    private let answer: Result<Any, any Error>

    private init(_ answer: Result<Any, any Error>) { self.answer = answer }

    init(_ document: UIManagedDocument, in package: URL) {
        answer = Result { try document.additionalContent(for: UIManagedDocument.contentURL(in: package)) }
    }

    /// Nil: there is nothing to write. Throws what the subclass threw.
    func content() throws -> Any? {
        let content = try answer.get()
        if content is NSNull { return nil }
        // An optional without a value, which `Any` hides.
        let mirror = Mirror(reflecting: content)
        return mirror.displayStyle == .optional && mirror.children.isEmpty ? nil : content
    }
}

/// Additional content that is written and not in its place yet.
struct AdditionalContentDraft: Sendable {
    /// Where it is.
    let folder: URL
    private let place: URL

    init(of place: URL) {
        self.place = place
        folder = place.deletingLastPathComponent().appendingPathComponent(".AdditionalContent-\(UUID().uuidString)", isDirectory: true)
    }

    /// What was there, for as long as it takes to rename two folders.
    private static func former(_ place: URL) -> URL {
        place.deletingLastPathComponent().appendingPathComponent(".AdditionalContent-former", isDirectory: true)
    }

    /// Puts it in the place of what is there. If it throws, that is still there.
    func put() throws {
        let former = Self.former(place)
        do {
            if FilePlace(place.path) != nil {
                // Of an earlier time: it has been replaced since.
                if FilePlace(former.path) != nil { try FileManager.default.removeItem(at: former) }
                _ = try Disk.checked("move \(place.path)") { rename(place.path, former.path) }
            }
            _ = try Disk.checked("make \(place.path)") { rename(folder.path, place.path) }
        } catch {
            Self.recover(place)
            discard()
            throw error
        }
        try Disk.synchronize(folder: place.deletingLastPathComponent())
        // It is told from what counts by its name.
        try? FileManager.default.removeItem(at: former)
    }

    func discard() { try? FileManager.default.removeItem(at: folder) }

    /// Puts back what was there, if the process ended, or something failed, between one name and the other.
    static func recover(_ place: URL) {
        let former = former(place)
        if FilePlace(place.path) == nil, FilePlace(former.path) != nil { _ = rename(former.path, place.path) }
    }

    /// Returns when the disk has a folder, or a file, and everything in it. Throws a POSIX error.
    static func synchronize(_ url: URL) throws {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
        for item in names.map({ url.appendingPathComponent($0) }) + [url] {
            var status = stat()
            guard lstat(item.path, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { continue }
            try Disk.synchronize(fileIfAny: item)
        }
    }
}
