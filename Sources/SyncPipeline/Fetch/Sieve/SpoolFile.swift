import Foundation
import Glibc
import OpenCoreData

/// The file of what is too much of a page for the memory. It can be read in any thread.
struct SpoolFile: Sendable {
    private let file: NamelessFile
    private let folder: URL
    private let leavesFree: Int

    /// - Parameter leavesFree: how many bytes of the file system no write may take.
    /// - Throws: `FetchError` of the class `spool`, as everything here does.
    init(in folder: URL, leavesFree: Int) throws {
        self.folder = folder
        self.leavesFree = leavesFree
        file = try Self.telling(folder) { try NamelessFile(in: folder) }
    }

    /// Writes the memory of `values` at the end.
    ///
    /// - Returns: where it starts.
    func append<Value: BitwiseCopyable>(_ values: [Value]) throws -> Int {
        try Self.telling(folder) { try values.withUnsafeBytes { try file.append($0, leavesFree: leavesFree) } }
    }

    /// Reads so many values from there on, in place of what `values` has.
    func read<Value: BitwiseCopyable>(_ count: Int, at offset: Int, into values: inout [Value]) throws {
        values.removeAll(keepingCapacity: true)
        try Self.telling(folder) {
            try values.append(addingCapacity: count) { span in
                try span.withUnsafeMutableBufferPointer { room, filled in
                    try file.read(into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[..<count])), at: offset)
                    filled = count
                }
            }
        }
    }

    private static func telling<T>(_ folder: URL, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let failure as NamelessFile.Failure {
            throw FetchError(.spool, detail: "a body too large for the memory is kept in \(folder.path) until it is read: \(failure.reason)")
        }
    }
}

/// How much room the file system has for us.
enum DiskSpace {
    /// Bytes that an unprivileged process may still write; nil if unknown.
    static func free(at url: URL) -> Int? {
        var info = statvfs()
        guard statvfs(url.path, &info) == 0 else { return nil }
        return Int(info.f_bavail) * Int(info.f_frsize)
    }
}
