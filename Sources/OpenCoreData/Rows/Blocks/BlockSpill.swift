import CXXHash
import Foundation
import Synchronization

/// Where the bytes of new rows wait for the store: on the heap as long as they are few, then in a file that has no name, beside the store. A file that
/// can't be had, or takes no more, costs memory and nothing else.
package final class BlockSpill: Sendable {
    /// When it is the file's turn.
    package struct Limits: Sendable, Hashable {
        /// How many bytes are on the heap before the file takes the others.
        package var heap = 16 << 20
        /// How many bytes of the file system the file does not take.
        package var leavesFree = 1 << 30
        /// How many unique keys of an importer are in memory whole: pages mostly have fewer records.
        package var keys = 1 << 14

        package init() {}
    }

    let folder: URL?
    let limits: Limits
    fileprivate let inMemory = Atomic(0)
    private let file = Mutex(WeakFile())

    private struct WeakFile {
        weak var value: NamelessFile?
        /// How many bytes all files before have taken.
        var before = 0
    }

    /// - Parameter folder: of the file; nil: there is none.
    package init(in folder: URL?, _ limits: Limits = Limits()) {
        self.folder = folder
        self.limits = limits
    }

    /// A copy of these bytes.
    package func bytes(copying source: UnsafeRawBufferPointer) -> SpilledBytes {
        if inMemory.load(ordering: .relaxed) + source.count > limits.heap, let file = openFile(),
            let offset = try? file.append(source, leavesFree: limits.leavesFree)
        {
            return SpilledBytes(count: source.count, place: .file(file, offset, hash: SpilledBytes.hash(of: source)))
        }
        inMemory.add(source.count, ordering: .relaxed)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: MemoryLayout<UInt64>.alignment)
        copy.copyMemory(from: source)
        return SpilledBytes(count: source.count, place: .heap(UnsafeRawBufferPointer(copy), self))
    }

    /// A file's room comes back when all that is in it is gone: then a large one is followed by another. What is large grows, so that files stay few.
    private static func isLarge(_ size: Int, after before: Int) -> Bool { size >= max(64 << 20, before / 16) }

    /// The file of what was written last; a new one if that is gone, or large.
    private func openFile() -> NamelessFile? {
        guard let folder else { return nil }
        return file.withLock { file in
            if let open = file.value {
                if !Self.isLarge(open.size, after: file.before) { return open }
                file.before += open.size
            } else {
                file.before = 0
            }
            let made = try? NamelessFile(in: folder)
            file.value = made
            return made
        }
    }
}

/// Bytes that do not change, on the heap or in a file.
// Unchecked: the memory is written once, before anybody else has it.
package final class SpilledBytes: @unchecked Sendable {
    fileprivate enum Place {
        case heap(UnsafeRawBufferPointer, BlockSpill)
        case file(NamelessFile, Int, hash: UInt64)
    }

    let count: Int
    private let place: Place

    fileprivate init(count: Int, place: Place) {
        self.count = count
        self.place = place
    }

    deinit {
        switch place {
        case .heap(let bytes, let spill):
            spill.inMemory.subtract(bytes.count, ordering: .relaxed)
            bytes.deallocate()
        case .file: break
        }
    }

    fileprivate static func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 { xxh3_64(bytes.baseAddress, bytes.count, 0) }

    /// Hands out the bytes, which are valid until the closure returns. Throws `NSFileReadUnknownError` where the file can't be read or has other bytes by
    /// now, and what the closure throws.
    package func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T {
        switch place {
        case .heap(let bytes, _): return try withExtendedLifetime(self) { try body(bytes) }
        case .file(let file, let offset, let hash):
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: MemoryLayout<UInt64>.alignment)
            defer { copy.deallocate() }
            do { try file.read(into: copy, at: offset) } catch { throw Self.loss("can't be read: \(error.reason)") }
            // What a disk could not keep may come back as zeros.
            guard Self.hash(of: UnsafeRawBufferPointer(copy)) == hash else { throw Self.loss("has other bytes than were written to it") }
            return try body(UnsafeRawBufferPointer(copy))
        }
    }

    private static func loss(_ what: String) -> NSError {
        NSError.coreData(.fileReadUnknown, "New rows wait in a file that \(what). They are not saved, and are gone when the process ends.")
    }
}
