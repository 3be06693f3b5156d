/// The exit statuses of `cisternd`. 200 to 245 belong to the service manager and are never used.
public enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
    /// A clean stop.
    case success = 0
    /// Unexpected.
    case failure = 1
    /// Bad command line.
    case usage = 64
    /// Something is broken that should never break.
    case software = 70
    /// A socket or a thread could not be made.
    case osError = 71
    /// The state directory cannot be written.
    case cannotCreate = 73
    /// The disk reported an error.
    case ioError = 74
    /// The store is in use by another process.
    case temporaryFailure = 75
    /// No usable credential.
    case noPermission = 77
    /// Configuration or model invalid.
    case configuration = 78
}
