/// What a save of a worker, which a document's context took in, survives before the document has written it to its store.
public enum PushJournaling: Hashable, Sendable {
    /// Nothing: it is in memory until the document saves. Costs nothing.
    case off
    /// The end of the process, however it ends. The save returns when the journal's file has it; the machine may not have it on the disk yet.
    case written
    /// Loss of power, too. The save returns when the disk has it: about as long as a commit takes.
    case synchronized
}
