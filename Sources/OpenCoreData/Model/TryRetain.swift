import CSwiftRuntime

/// A strong reference to an object that may be in the middle of its end: nil if it is. What `weak` references do when they are read, without
/// giving the object the side table that makes every retain and release of it slower for good.
///
/// The memory at `place` must be an object's whose storage can't be freed during the call, and nothing that the object's `deinit` waits for may
/// be left before the result has been let go of.
func strongReference<Object: AnyObject>(at place: UnsafeRawPointer, as type: Object.Type) -> Object? {
    swift_tryRetain(UnsafeMutableRawPointer(mutating: place)).map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
}
