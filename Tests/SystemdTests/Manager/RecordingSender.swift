import Dispatch
import Glibc
import Synchronization
import Systemd

/// A manager that remembers what it was told, and can be made not to listen.
final class RecordingSender: NotifySender {
    private struct State {
        var texts: [String] = []
        var attempts = 0
        var refusal: Int32?
    }

    private let state = Mutex(State())

    var texts: [String] { state.withLock { $0.texts } }
    var attempts: Int { state.withLock { $0.attempts } }

    func refuse(with code: Int32?) {
        state.withLock { $0.refusal = code }
    }

    func send(_ message: NotifyMessage) throws(NotifyError) {
        let refusal = state.withLock { state in
            state.attempts += 1
            if state.refusal == nil { state.texts.append(message.text) }
            return state.refusal
        }
        if let refusal { throw NotifyError(socket: "/run/test", code: refusal) }
    }
}
