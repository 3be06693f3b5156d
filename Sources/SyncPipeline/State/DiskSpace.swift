import Foundation
import Glibc

/// How much room a file system has for us.
enum DiskSpace {
    /// Bytes that an unprivileged process may still write; nil if nobody knows.
    static func free(at url: URL) -> Int? {
        var info = statvfs()
        guard statvfs(url.path, &info) == 0 else { return nil }
        return Int(info.f_bavail) * Int(info.f_frsize)
    }
}
