/// Why fetching waits.
public enum HoldCause: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The disk is behind: so many changed objects wait for it.
    case unsavedChanges(Int)
    /// So many bytes are free, and that is less than `store.min_free_disk`.
    case lowDisk(free: Int, minimum: String)

    public var description: String {
        switch self {
        case .unsavedChanges(let count): "\(count) changed objects wait for the disk"
        case .lowDisk(let free, let minimum): "only \(free >> 20) MiB are free, less than store.min_free_disk = \(minimum)"
        }
    }

    /// Whether somebody has to make room: what waits behind other work goes on by itself.
    public var isLowDisk: Bool {
        if case .lowDisk = self { true } else { false }
    }
}
