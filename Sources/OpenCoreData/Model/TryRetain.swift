import Foundation

/// A strong reference to an object that may be in the middle of its end: nil if it is. What `weak` references do when they are read, without
/// giving the object the side table that makes every retain and release of it slower for good.
///
/// The memory at `place` must be an object's whose storage can't be freed during the call, and nothing that the object's `deinit` waits for may
/// be left before the result has been let go of.
func strongReference<Object: AnyObject>(at place: UnsafeRawPointer, as type: Object.Type) -> Object? {
    if let tryRetain = TryRetain.runtime {
        return tryRetain(place).map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
    }
    let object = Unmanaged<Object>.fromOpaque(place).takeUnretainedValue()
    // What this line borrowed is given back after the result is there, so that it is never the last reference.
    return withExtendedLifetime(object) { TryRetain.WeakBox(object).object.map { unsafeDowncast($0, to: Object.self) } }
}

private enum TryRetain {
    typealias Function = @convention(c) (UnsafeRawPointer) -> UnsafeRawPointer?

    /// The runtime's own: adds a strong reference unless the object is being deinitialised. Nil in a program that contains the runtime instead
    /// of loading it, because the linker keeps its names to itself.
    // A function that takes and gives an object's address, as the runtime's header says.
    static let runtime: Function? = dlsym(nil, "swift_tryRetain").map { unsafeBitCast($0, to: Function.self) }

    /// The same in the language's own terms: a weak reference to an object whose end has begun is nil from the start.
    final class WeakBox {
        private weak var reference: AnyObject?

        // Kept out of line, so that the compiler does not conclude that what was just stored must still be there.
        @inline(never)
        init(_ object: AnyObject) { reference = object }

        @inline(never)
        var object: AnyObject? { reference }
    }
}
