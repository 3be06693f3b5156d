import Glibc

/// Room at the end of the heap for many small allocations to come.
///
/// A thread's heap grows by a page at a time, with a call to the kernel for each, so a hundred thousand small objects cost thousands of calls. Where the
/// end of the heap has been pushed out once by a large allocation, which is given back at once, they are cut from what is there.
enum HeapRoom {
    /// Makes room for so many bytes: less than the 128 KiB from which on allocations get pages of their own, and free ends of heaps are given back.
    static func make(_ bytes: Int) {
        var room: UnsafeMutableRawPointer?
        // Not `malloc`, which the compiler leaves out together with the `free`.
        if posix_memalign(&room, MemoryLayout<UInt64>.alignment, bytes) == 0 { free(room) }
    }
}
