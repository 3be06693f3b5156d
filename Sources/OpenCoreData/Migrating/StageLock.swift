import Foundation
import Glibc

/// Whoever brings a store to another version by stages, in whichever process: one at a time. It is a file beside the store, there while somebody has it; the
/// kernel lets go of it where its process ends.
struct StageLock {
    private let path: String
    private let descriptor: Int32

    /// Waits until nobody has it. Throws 134080 where no file can be made there, and for a thread that has it already: it would wait for itself.
    init(_ store: URL) throws {
        let path = store.standardizedFileURL.resolvingSymlinksInPath().path + "-stages"
        func failure(_ reason: String, _ cause: (any Error)? = nil) -> NSError {
            .coreData(.persistentStoreOpen, "\(store.path) can't be migrated by stages: \(reason)", underlying: cause)
        }
        if Self.mine.contains(path) {
            throw failure("it is being migrated by this thread. A handler uses the container of its NSStagedMigrationManager.")
        }
        self.path = path
        do { descriptor = try Self.locked(path) } catch { throw failure(error.localizedDescription, error) }
        Self.mine.insert(path)
    }

    /// What this thread has.
    private static var mine: Set<String> {
        get { Thread.current.threadDictionary["OpenCoreData.stages"] as? Set<String> ?? [] }
        set { Thread.current.threadDictionary["OpenCoreData.stages"] = newValue }
    }

    private static func locked(_ path: String) throws -> Int32 {
        while true {
            let file = try Disk.checked("make \(path)") { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
            do {
                _ = try Disk.checked("lock \(path)") {
                    var result: Int32
                    repeat { result = flock(file, LOCK_EX) } while result != 0 && errno == EINTR
                    return result
                }
                var mine = stat()
                _ = try Disk.checked("look at \(path)") { fstat(file, &mine) }
                // Whoever had it has taken the file away with it: then this lock is nobody's.
                if let now = FilePlace(path), now.number == UInt64(mine.st_ino), now.device == UInt64(mine.st_dev) { return file }
            } catch {
                close(file)
                throw error
            }
            close(file)
        }
    }

    func release() {
        Self.mine.remove(path)
        unlink(path)
        close(descriptor)
    }
}
