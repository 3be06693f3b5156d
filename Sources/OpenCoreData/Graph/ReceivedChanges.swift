/// What a parent made of the changes that it was handed.
package struct ReceivedChanges: Sendable {
    /// As they came in; nil: as they were handed over.
    var changes: ChangeSet?
    /// New objects that turned out to be others.
    var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// Objects that are not what was handed over.
    var corrected: Set<NSManagedObjectID> = []

    package init() {}

    init(changes: ChangeSet, identities: [NSManagedObjectID: NSManagedObjectID], corrected: Set<NSManagedObjectID>) {
        self.changes = changes
        self.identities = identities
        self.corrected = corrected
    }
}
