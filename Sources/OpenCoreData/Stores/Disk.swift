import Foundation
import Glibc

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
    static func synchronize(folder: URL) throws {
        let descriptor = try checked("open \(folder.path)") { Glibc.open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        _ = try checked("synchronize \(folder.path)") { fsync(descriptor) }
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
