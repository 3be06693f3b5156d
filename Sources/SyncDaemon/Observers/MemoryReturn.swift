import CMalloc
import Dispatch
import Foundation
import SyncPipeline
import Synchronization

/// Gives memory back to the system after a run that handled much. What such a run took is free when it has ended, but lies between what is still used,
/// and the C library keeps it: after a page of a million records, hundreds of megabytes for as long as the process lives.
final class MemoryReturn: Sendable {
    /// Bodies of more bytes than this, and more records than this, are much.
    private static let bytes = 64 << 20, records = 100_000

    /// More runs than ever are under way. The end of some is never told: a reload has removed their resource.
    private static let runs = 1_000

    private let read = Mutex<[UUID: Int]>([:])
    private let release: @Sendable () -> Void

    /// - Parameter release: gives back what is free; returns at once.
    init(release: @escaping @Sendable () -> Void = MemoryReturn.trim) { self.release = release }

    /// Takes in what happened.
    func observe(_ event: SyncEvent) {
        switch event {
        case .pageSaved(let page):
            let counts = page.counts
            read.withLock { read in
                // What is still under way is counted from here on.
                if read.count >= Self.runs, read[page.run] == nil { read = [:] }
                read[page.run, default: 0] += counts.inserted + counts.updated + counts.unchanged + counts.quarantined
            }
        case .runFinished(let report):
            // The report's own counts hold the records of pages that were not read.
            let records = read.withLock { $0.removeValue(forKey: report.run) } ?? 0
            if report.bytes > Self.bytes || records > Self.records { release() }
        default: break
        }
    }

    /// How many runs it knows whose end was not told.
    var count: Int { read.withLock { $0.count } }

    private static let queue = DispatchQueue(label: "cistern.memory", qos: .utility)

    /// It takes some milliseconds for each hundred megabytes, and keeps who asks for memory waiting meanwhile: not on the thread that sends events.
    private static func trim() { queue.async { malloc_trim(0) } }
}
