import SyncPipeline
import Systemd

/// Tells the service manager how things are, with each event that changes the sentence. `Notify` sends the newest at most once a second.
public final class NotifyReporter: Sendable {
    private let notify: Notify
    private let recorder: StatusRecorder

    public init(notify: Notify, recorder: StatusRecorder) {
        self.notify = notify
        self.recorder = recorder
    }

    /// To be called after the recorder has recorded the event.
    public func observe(_ event: SyncEvent) {
        guard notify.isActive, Self.isNews(event) else { return }
        notify.status(recorder.text)
    }

    static func isNews(_ event: SyncEvent) -> Bool {
        switch event {
        case .quarantined, .deletesHeld, .retrying, .authenticationRejected, .refused: false
        default: true
        }
    }
}
