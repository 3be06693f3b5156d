import CSwiftRuntime
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
    func set(_ object: Object) {
        let made = Place(address: UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()))
        place.withLock { $0 = made }
    }

    /// Called by the object in its `deinit`.
    func clear() { place.withLock { $0.address = nil } }
}

/// A strong reference to an object that may be in the middle of its end: nil if it is. What `weak` references do when they are read, without
/// giving the object the side table that makes every retain and release of it slower for good.
///
/// The memory at `place` must be an object's whose storage can't be freed during the call, and nothing that the object's `deinit` waits for may
/// be left before the result has been let go of.
func strongReference<Object: AnyObject>(at place: UnsafeRawPointer, as type: Object.Type) -> Object? {
    swift_tryRetain(UnsafeMutableRawPointer(mutating: place)).map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
}

/// Carries a value to a queue that the type system can't see, or out of a lock.
// Used for blocks handed to a context, which run on its queue, one at a time, as is the contract of `perform`; and for what comes out of a lock to one
// caller.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
}
