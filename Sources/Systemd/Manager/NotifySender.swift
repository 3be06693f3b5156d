/// Takes one message to the service manager.
public protocol NotifySender: Sendable {
    /// Makes one attempt. Should return at once where it can; `Notify` repeats what failed.
    func send(_ message: NotifyMessage) throws(NotifyError)
}
