import Glibc

/// Refresh tokens that a service has put in the place of configured ones, each in a file that nobody else may read. They are not in the store, which a
/// group may read.
///
/// A file is written beside the one it takes the place of, synchronised, and renamed over it; then the folder is synchronised. Whenever the power
/// fails, there is either the old entry or the new one.
public struct TokenFiles: Sendable {
    /// Why a file cannot be used. Never what is in it.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The file or folder.
        public let path: String
        /// What could not be done with it.
        public let action: String
        /// An `errno`.
        public let code: Int32

        /// One sentence: what, where and why.
        public var description: String { "\(path) cannot be \(action): \(String(cString: strerror(code)))" }
    }

    /// Largest entry in bytes.
    public static let largest = 131_072

    /// The folder, made when it is needed.
    public let folder: String

    /// Files in a folder, which need not be there yet.
    public init(folder: String) {
        self.folder = folder
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// What the next entry is written into.
    private func draft(_ name: String) -> String { "\(folder)/.\(name).new" }

    /// The entry; nil if there is none.
    ///
    /// - Throws: `Failure`, also for an entry that is too large.
    public func read(_ name: String) throws(Failure) -> Secret? {
        let path = path(name), descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        try check(descriptor >= 0, path, "opened")
        defer { close(descriptor) }
        var code: Int32 = 0
        let secret = Secret(capacity: Self.largest + 1) { bytes in
            var count = 0
            while count <= Self.largest {
                let got = Glibc.read(descriptor, bytes.baseAddress! + count, Self.largest + 1 - count)
                if got == 0 { break }
                if got > 0 {
                    count += got
                } else if errno != EINTR {
                    code = errno
                    break
                }
            }
            return count
        }
        if code == 0, secret.count > Self.largest { code = EFBIG }
        if code != 0 { throw Failure(path: path, action: "read", code: code) }
        return secret.withUnsafeBytes { Secret($0) }
    }

    /// Makes sure that an entry can be written: that the folder is there, and that there is room.
    ///
    /// - Throws: `Failure`
    public func prepare(_ name: String) throws(Failure) {
        try makeFolder()
        let path = draft(name), descriptor = try openDraft(path)
        defer { close(descriptor) }
        let code = posix_fallocate(descriptor, 0, off_t(Self.largest))
        if code != 0 { throw Failure(path: path, action: "given room", code: code) }
    }

    /// Puts an entry in the place of the one before. When it returns, the entry survives a loss of power.
    ///
    /// - Throws: `Failure`; then it is either the old entry or the new one that is there.
    public func write(_ name: String, _ entry: Secret) throws(Failure) {
        try makeFolder()
        let path = path(name), draft = draft(name), descriptor = try openDraft(draft)
        var isOpen = true
        defer { if isOpen { close(descriptor) } }
        let code: Int32 = entry.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.pwrite(descriptor, bytes.baseAddress! + written, bytes.count - written, off_t(written))
                if count >= 0 { written += count } else if errno != EINTR { return errno }
            }
            return 0
        }
        if code != 0 { throw Failure(path: draft, action: "written", code: code) }
        try check(ftruncate(descriptor, off_t(entry.count)) == 0, draft, "written")
        try check(fsync(descriptor) == 0, draft, "synchronised")
        isOpen = false
        try check(close(descriptor) == 0, draft, "closed")
        try check(rename(draft, path) == 0, path, "replaced")
        try synchronise(folder)
    }

    private func makeFolder() throws(Failure) {
        if mkdir(folder, 0o700) == 0 {
            // What is in a folder survives only where the folder does.
            try synchronise(folder.lastIndex(of: "/").map { String(folder[..<$0]) + "/." } ?? ".")
        } else if errno != EEXIST {
            throw Failure(path: folder, action: "made", code: errno)
        }
    }

    private func synchronise(_ folder: String) throws(Failure) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try check(descriptor >= 0, folder, "opened")
        defer { close(descriptor) }
        try check(fsync(descriptor) == 0, folder, "synchronised")
    }

    private func openDraft(_ path: String) throws(Failure) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        try check(descriptor >= 0, path, "opened")
        // Whatever made it before.
        let isPrivate = fchmod(descriptor, 0o600) == 0, code = errno
        guard isPrivate else {
            close(descriptor)
            throw Failure(path: path, action: "made private", code: code)
        }
        return descriptor
    }

    private func check(_ isDone: Bool, _ path: String, _ action: String) throws(Failure) {
        if !isDone { throw Failure(path: path, action: action, code: errno) }
    }
}
