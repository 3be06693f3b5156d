import Foundation
import Glibc

/// Lines in two files that take turns: once the newer one is full it takes the place of the older one, and another is begun. Only the owner may read them.
final class LineRing {
    /// What the system refused.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code: Int32
        var description: String { "\(path): \(String(cString: strerror(code)))" }
    }

    /// The newer file; the older one has `.1` after its name.
    let path: String
    /// Bytes of both.
    let most: Int
    private var descriptor: Int32 = -1
    private var size = 0

    init(path: String, most: Int) {
        self.path = path
        self.most = most
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes a line with its end. One that would be more than half of what there is room for is left out.
    /// - Returns: false if it was left out.
    func append(_ line: [UInt8]) throws(Failure) -> Bool {
        guard line.count <= most / 2 else { return false }
        if descriptor < 0 { try open() }
        if size > 0, size + line.count > most / 2 {
            try check(rename(path, path + ".1") == 0)
            end()
            try open()
        }
        var written = 0
        while written < line.count {
            let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + written }, line.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                // No half line stays in front of the next one.
                _ = ftruncate(descriptor, off_t(size))
                throw Failure(path: path, code: code)
            }
            written += count
        }
        size += line.count
        return true
    }

    private func open() throws(Failure) {
        let folder = (path as NSString).deletingLastPathComponent
        try check(mkdir(folder, 0o700) == 0 || errno == EEXIST)
        descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        try check(descriptor >= 0)
        // Whatever made it before.
        var facts = stat()
        guard fchmod(descriptor, 0o600) == 0, fstat(descriptor, &facts) == 0 else {
            let code = errno
            end()
            throw Failure(path: path, code: code)
        }
        size = Int(facts.st_size)
    }

    private func end() {
        close(descriptor)
        descriptor = -1
        size = 0
    }

    private func check(_ isDone: Bool) throws(Failure) {
        if !isDone { throw Failure(path: path, code: errno) }
    }
}
