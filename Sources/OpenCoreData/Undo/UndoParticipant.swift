/// Somebody who registers what he undoes late, at the end of an event: a context. The manager asks before it opens or closes a group.
protocol UndoParticipant: AnyObject {
    /// Whether there are changes that will be registered.
    var hasUnregisteredChanges: Bool { get }
    /// Registers them now.
    func registerChanges()
}
