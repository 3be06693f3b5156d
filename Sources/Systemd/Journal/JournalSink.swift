/// Takes entries to where they are kept. Called on the journal's queue only, one entry at a time; may block.
public protocol JournalSink: Sendable {
    /// - Throws: if this entry could not be written.
    func write(_ entry: JournalEntry) throws
}
