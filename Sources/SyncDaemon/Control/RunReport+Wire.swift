import SyncPipeline

extension RunReport {
    /// As it is told on the control socket: the error may tell what a server sent, and is one line.
    var onTheWire: RunReport {
        var report = self
        report.error = error.map { RemoteText.line($0) }
        return report
    }
}

extension ResourceStatus {
    /// As it is told on the control socket.
    var onTheWire: ResourceStatus {
        var status = self
        status.error = error.map { RemoteText.line($0) }
        status.lastReport = lastReport?.onTheWire
        return status
    }
}
