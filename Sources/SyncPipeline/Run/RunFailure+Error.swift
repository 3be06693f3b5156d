import SyncReports

extension RunFailure {
    /// What kind of failure an error is that ended a run.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as FetchError: error.kind == .tls ? .tls : .fetch
            case is SyncError: .page
            default: .store
            }
    }
}
