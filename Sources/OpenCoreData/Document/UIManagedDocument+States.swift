import Foundation

extension UIManagedDocument {
    /// The states a document can be in, with Apple's raw values.
    public struct State: OptionSet, Hashable, Sendable {
        /// The states as bits; 0 is normal.
        public let rawValue: UInt
        /// Accepts any bits; unknown ones are kept.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// Open, and nothing is wrong.
        public static let normal: State = []
        /// The store is not open: not opened yet, failed to open, or closed. Nothing is autosaved.
        public static let closed = State(rawValue: 1)
        /// Never set here: a document has one version.
        public static let inConflict = State(rawValue: 2)
        /// An error went to `handleError(_:userInteractionPermitted:)`, of opening and closing too. Removed by the next save that succeeds.
        public static let savingError = State(rawValue: 4)
        /// Never set here: objects can be edited during a save.
        public static let editingDisabled = State(rawValue: 8)
        /// Never set here: opening and saving report no progress.
        public static let progressAvailable = State(rawValue: 16)
    }

    /// What a save is for.
    public enum SaveOperation: Int, Sendable {
        /// The first save: makes package and store, then writes what is unsaved.
        case forCreating = 0
        /// A later save: writes what is unsaved to the store that is open.
        case forOverwriting = 1
    }

    /// What a change does to the document.
    public enum ChangeKind: Int, Sendable {
        /// A change was made: marks the document as changed.
        case done = 0
        /// A change was taken back: marks the document as changed, as `done` does.
        case undone = 1
        /// A change was made again: marks the document as changed, as `done` does.
        case redone = 2
        /// Takes the mark away; changes that the contexts hold still count as unsaved.
        case cleared = 3
    }
}
