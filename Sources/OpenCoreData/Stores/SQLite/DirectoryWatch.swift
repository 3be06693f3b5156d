import Dispatch
import Glibc

/// Tells when the kernel has seen somebody write to one of a directory's files, by its name. No thread waits for it.
///
/// What is written through mapped memory is not seen, nor what another machine writes to a shared file system.
// A dispatch source may be used from any thread; here it is only made and cancelled.
final class DirectoryWatch: @unchecked Sendable {
    private let source: any DispatchSourceRead

    /// Nil where the kernel has no watch left to give.
    ///
    /// - Parameter names: the files to hear of; they need not exist yet.
    /// - Parameter handler: called on `queue`, once for all that came together.
    init?(_ directory: String, names: Set<String>, queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let mask = UInt32(IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_MOVED_TO)
        guard inotify_add_watch(descriptor, directory, mask) >= 0 else {
            close(descriptor)
            return nil
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            if Self.concerns(names, readingFrom: descriptor) { handler() }
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    deinit { source.cancel() }

    /// Takes everything that waits. Returns whether any of it is about these files, or was too much for the kernel to keep.
    private static func concerns(_ names: Set<String>, readingFrom descriptor: Int32) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        var isConcerned = false
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while let base = buffer.baseAddress {
                let count = read(descriptor, base, buffer.count)
                if count <= 0 { return }
                var offset = 0
                while offset + header <= count {
                    let event = base.load(fromByteOffset: offset, as: inotify_event.self)
                    let name = event.len == 0 ? "" : String(cString: (base + offset + header).assumingMemoryBound(to: CChar.self))
                    if names.contains(name) || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isConcerned = true }
                    offset += header + Int(event.len)
                }
            }
        }
        return isConcerned
    }
}
