import Synchronization

/// A reference to an object that does not keep it alive, for objects that are retained and released all the time: an object that was ever
/// referenced by `weak` pays for it with each retain. The object owns its anchor and takes itself out of it in its `deinit`; whoever
/// refers to the object keeps the anchor. Safe to use from any thread.
final class Anchor<Object: AnyObject>: Sendable {
    // An address, read and cleared under the lock only.
    private struct Place: @unchecked Sendable {
        var address: UnsafeRawPointer?
    }

    private let place = Mutex(Place())

    /// The object; nil once its end began.
    var object: Object? {
        // An object clears its anchor before it is freed, and waits for this lock to do so: what stands here is there until the lock opens.
        place.withLock { place in place.address.map { Unchecked(value: strongReference(at: $0, as: Object.self)) } }?.value
    }

    /// Called by the object when it is made.
    func hold(_ object: Object) {
        let made = Place(address: UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()))
        place.withLock { $0 = made }
    }

    /// Called by the object in its `deinit`.
    func clear() { place.withLock { $0.address = nil } }
}
