import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// What a long life of a document leaves behind in the process.
@Suite struct DocumentObservingTests {
    // GB30: a closure that is kept in a `Mutex` as it is gains a layer each time it is read, until the stack is full of them.
    @Test func theDocumentHearsOfTheLastChangeAsItHeardOfTheFirst() throws {
        let fixture = try JournalFixture(), clock = StackClock()
        let document = UIManagedDocument(fileURL: fixture.folder, model: fixture.model, autosavePolicy: AutosavePolicy(), clock: clock)
        let main = document.managedObjectContext
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = main
        try document.openStore(creating: true)
        var places: [UInt] = []
        try worker.performAndWait {
            let item = worker.make("Item", ["key": "0"])
            for number in 1...200 {
                item.setValue("\(number)", forKey: "key")
                try worker.save()
                places.append(clock.place)
            }
        }
        let first = try #require(places.first), last = try #require(places.last)
        #expect(first > 0 && Set(places).count == 1, "\(first - last) bytes of stack more after \(places.count) saves")
    }

    /// Notes where in the stack it is asked for the time.
    private final class StackClock: DocumentClock {
        private let asked = Mutex<UInt>(0)

        /// The address of a variable of the last question.
        var place: UInt { asked.withLock { $0 } }

        var now: TimeInterval {
            withUnsafePointer(to: 0) { place in asked.withLock { $0 = UInt(bitPattern: place) } }
            return 0
        }

        func schedule(after seconds: TimeInterval, _ block: @escaping @Sendable () -> Void) {}
    }
}
