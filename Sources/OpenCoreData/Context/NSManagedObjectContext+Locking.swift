/// Holding a context's queue by hand, as was done before contexts had queues.
extension NSManagedObjectContext {
    /// Waits until the queue is free and holds it for this thread until `unlock()`. May be nested.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func lock() {
        queue.hold()
        receiveMail()
    }

    /// Lets go of the queue. Traps on a thread that does not hold it.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func unlock() {
        checkQueue()
        publish()
        queue.release()
    }

    /// Holds the queue as `lock()` does if no other thread holds it or waits for it.
    ///
    /// - Returns: whether it is held.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func tryLock() -> Bool {
        guard queue.tryHold() else { return false }
        receiveMail()
        return true
    }
}
