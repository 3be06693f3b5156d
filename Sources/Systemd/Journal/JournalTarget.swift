import Foundation
import Glibc

/// Where entries go.
public enum JournalTarget: String, Sendable, CaseIterable {
    /// To the journal if standard error is connected to it, else to standard error.
    case auto
    case journal
    case stderr

    /// Whether `descriptor` is the stream to the journal that `$JOURNAL_STREAM` (`device:inode`) describes.
    public static func isJournalStream(
        _ descriptor: Int32 = STDERR_FILENO,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        let parts = (environment["JOURNAL_STREAM"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]) else { return false }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return false }
        return UInt64(information.st_dev) == device && UInt64(information.st_ino) == inode
    }

    /// Whether entries go to the journal natively.
    func isNative(descriptor: Int32, environment: [String: String]) -> Bool {
        switch self {
        case .auto: Self.isJournalStream(descriptor, environment: environment)
        case .journal: true
        case .stderr: false
        }
    }
}
