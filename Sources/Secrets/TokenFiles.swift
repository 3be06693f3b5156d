import Glibc

/// Refresh tokens that a service has put in the place of configured ones, each in a file that nobody else may read. They are not in the store, which a
/// group may read.
///
/// A file is written beside the one it takes the place of, synchronised, and renamed over it; then the folder is synchronised. Whenever the power
/// fails, there is either the old entry or the new one; and where the process was killed before it could rename what it had written, that is found by
/// who reads next. An entry has a frame that tells whether it is whole, and which of two is the newer one.
public struct TokenFiles: Sendable {
    /// Why a file cannot be used. Never what is in it.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The file or folder.
        public let path: String
        /// What could not be done with it.
        public let action: String
        /// An `errno`; 0 for an entry that is not whole.
        public let code: Int32

        /// One sentence: what, where and why.
        public var description: String {
            code == 0
                ? "\(path) is damaged: remove it, and configure a new refresh token"
                : "\(path) cannot be \(action): \(String(cString: strerror(code)))"
        }
    }

    /// Keeps other processes, and others of this one, from an entry.
    public final class Lock: Sendable {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        /// Lets others use the entry; so does letting go of the lock.
        public func release() { flock(descriptor, LOCK_UN) }

        deinit { close(descriptor) }
    }

    /// Largest entry in bytes.
    public static let largest = 131_072

    /// The folder, made when it is needed.
    public let folder: String

    /// Files in a folder, which need not be there yet.
    public init(folder: String) {
        self.folder = folder
    }

    /// The file of an entry.
    public func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// What the next entry is written into.
    private func draft(_ name: String) -> String { "\(folder)/.\(name).new" }

    /// Keeps others from an entry for as long as somebody has what is returned; nil if somebody else does so just now. It does not wait.
    ///
    /// - Throws: `Failure`
    public func lock(_ name: String) throws(Failure) -> Lock? {
        try Self.makeFolder(folder)
        let path = "\(folder)/.\(name).lock", descriptor = try openPrivate(path)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            if code == EWOULDBLOCK { return nil }
            throw Failure(path: path, action: "locked", code: code)
        }
        return Lock(descriptor)
    }

    /// The entry; nil if there is none. One that was written and not renamed yet, since the process was killed, is put in its place first.
    ///
    /// - Throws: `Failure`, also for an entry that is too large or not whole.
    public func read(_ name: String) throws(Failure) -> Secret? {
        let path = path(name), draft = draft(name), content = try content(path), entry = content.flatMap(Self.unframed)
        // A draft that cannot be read is none: it may be one that was not written to its end.
        if let late = (try? self.content(draft)).flatMap({ $0 }).flatMap(Self.unframed), late.number > entry?.number ?? 0 {
            try synchroniseFile(draft)
            try check(rename(draft, path) == 0, path, "replaced")
            try synchronise(folder)
            return late.entry
        }
        if content != nil, entry == nil { throw Failure(path: path, action: "read", code: 0) }
        return entry?.entry
    }

    /// Makes sure that an entry can be written: that the folder is there, and that there is room.
    ///
    /// - Throws: `Failure`
    public func prepare(_ name: String) throws(Failure) {
        try Self.makeFolder(folder)
        let path = draft(name), descriptor = try openPrivate(path)
        defer { close(descriptor) }
        let code = posix_fallocate(descriptor, 0, off_t(Self.largest))
        if code != 0 { throw Failure(path: path, action: "given room", code: code) }
    }

    /// Puts an entry in the place of the one before. When it returns, the entry survives a loss of power.
    ///
    /// - Throws: `Failure`; then it is either the old entry or the new one that is there.
    public func write(_ name: String, _ entry: Secret) throws(Failure) {
        try Self.makeFolder(folder)
        let path = path(name), draft = draft(name)
        guard entry.count <= Self.largest - Frame.length else { throw Failure(path: path, action: "written", code: EFBIG) }
        // What stands there may be damaged, or a link: the new entry takes its place whatever it is.
        let numbers = [path, draft].map { (try? content($0)).flatMap { $0 }.flatMap(Self.unframed)?.number ?? 0 }
        let framed = Frame.around(entry, number: (numbers.max() ?? 0) + 1), descriptor = try openPrivate(draft)
        var isOpen = true
        defer { if isOpen { close(descriptor) } }
        let code: Int32 = framed.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.pwrite(descriptor, bytes.baseAddress! + written, bytes.count - written, off_t(written))
                if count >= 0 { written += count } else if errno != EINTR { return errno }
            }
            return 0
        }
        if code != 0 { throw Failure(path: draft, action: "written", code: code) }
        try check(ftruncate(descriptor, off_t(framed.count)) == 0, draft, "written")
        try check(fsync(descriptor) == 0, draft, "synchronised")
        isOpen = false
        try check(close(descriptor) == 0, draft, "closed")
        try check(rename(draft, path) == 0, path, "replaced")
        try synchronise(folder)
    }

    // MARK: Entries

    private static func unframed(_ content: Secret) -> (number: UInt64, entry: Secret)? { Frame.inside(content) }

    /// What is in a file; nil if there is none.
    private func content(_ path: String) throws(Failure) -> Secret? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
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

    // MARK: Files

    /// With what is above it, as far as that is not there.
    private static func makeFolder(_ folder: String) throws(Failure) {
        let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
        var isMade = mkdir(folder, 0o700) == 0, code = errno
        if !isMade, code == ENOENT, !parent.isEmpty {
            try makeFolder(parent)
            isMade = mkdir(folder, 0o700) == 0
            code = errno
        }
        if isMade {
            // What is in a folder survives only where the folder does.
            try synchronise(folder.contains("/") ? parent + "/." : ".")
        } else if code != EEXIST {
            throw Failure(path: folder, action: "made", code: code)
        }
    }

    private func synchronise(_ folder: String) throws(Failure) { try Self.synchronise(folder) }

    private static func synchronise(_ path: String, _ flags: Int32 = O_DIRECTORY) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else { throw Failure(path: path, action: "opened", code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure(path: path, action: "synchronised", code: errno) }
    }

    private func synchroniseFile(_ path: String) throws(Failure) { try Self.synchronise(path, O_NOFOLLOW) }

    private func openPrivate(_ path: String) throws(Failure) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
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

/// What stands before an entry in its file: which one it is, counted from 1, how long it is, and a checksum of all that, each in 16 hexadecimal digits.
private enum Frame {
    private static let mark = Array("cistern-entry 1\n".utf8)
    private static let digits = 16
    static let length = mark.count + 3 * (digits + 1)

    static func around(_ entry: Secret, number: UInt64) -> Secret {
        entry.withUnsafeBytes { bytes in
            let head = head(number, bytes)
            return Secret(capacity: head.count + bytes.count) { buffer in
                buffer.copyBytes(from: head)
                UnsafeMutableRawBufferPointer(rebasing: buffer[head.count...]).copyBytes(from: bytes)
                return head.count + bytes.count
            }
        }
    }

    /// Nil for an entry that is not whole. What follows it is left over of another one, or room for one.
    static func inside(_ content: Secret) -> (number: UInt64, entry: Secret)? {
        content.withUnsafeBytes { bytes in
            guard bytes.count >= length, bytes.starts(with: mark) else { return nil }
            let number = value(at: 0, bytes), count = value(at: 1, bytes)
            guard let number, let count, count <= UInt64(bytes.count - length) else { return nil }
            let entry = UnsafeRawBufferPointer(rebasing: bytes[length..<length + Int(count)])
            guard bytes.starts(with: head(number, entry)) else { return nil }
            return (number, Secret(entry))
        }
    }

    private static func value(at index: Int, _ bytes: UnsafeRawBufferPointer) -> UInt64? {
        let start = mark.count + index * (digits + 1)
        return UInt64(String(decoding: bytes[start..<start + digits], as: UTF8.self), radix: 16)
    }

    private static func head(_ number: UInt64, _ entry: UnsafeRawBufferPointer) -> [UInt8] {
        let start = mark + Array("\(hexadecimal(number)) \(hexadecimal(UInt64(entry.count))) ".utf8)
        // FNV-1a: it has to notice what was not written to its end, and nobody who means harm.
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        start.forEach(add)
        entry.forEach(add)
        return start + Array("\(hexadecimal(sum))\n".utf8)
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
