/// Why a save of the document failed, and what follows for the changes it was to write.
public enum SaveFailureCause: String, Sendable, Hashable, Codable {
    /// No room is left. The changes are kept, and the save is tried again.
    case full
    /// Busy, locked, or short of memory. The changes are kept, and the save is tried again.
    case passing
    /// The store refused the changes themselves: they were rolled back.
    case refused
    /// The disk reported an error, or the file is not where it was: nothing that is written may be trusted any more.
    case disk
}
