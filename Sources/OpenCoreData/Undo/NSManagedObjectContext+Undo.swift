import Foundation

/// Undo: one group for each processed event.
extension NSManagedObjectContext {
    /// Takes the last group of changes back. Changes that were not processed yet are processed first, and are that group.
    public func undo() {
        checkQueue()
        undoManager?.undo()
        processPendingChanges()
    }

    /// Takes the last `undo()` back.
    public func redo() {
        checkQueue()
        undoManager?.redo()
        processPendingChanges()
    }

    /// What `undoManager` is set to.
    func setUndoManager(_ manager: UndoManager?) {
        guard manager !== undoRecorder?.manager else { return }
        if let old = undoRecorder {
            old.forgetEvent()
            old.manager.leave(self)
        }
        undoRecorder = manager.map { UndoRecorder(manager: $0) }
        manager?.join(self)
    }

    /// The event is over: what it did becomes an action that takes it back.
    func registerEventForUndo(evenIfEmpty: Bool = false) {
        guard let undoRecorder, evenIfEmpty || !undoRecorder.isEmpty else { return }
        publish()
        let record = undoRecorder.finish(in: self)
        if record.isEmpty && !evenIfEmpty { return }
        undoRecorder.manager.registerEvent(of: self) { $0.revert(record) }
    }
}

extension NSManagedObjectContext: UndoParticipant {
    var hasUnregisteredChanges: Bool { undoRecorder.map { !$0.isEmpty && $0.isRecording } ?? false }

    func registerChanges() {
        guard undoRecorder?.isEmpty == false, queue.isCurrent else { return }
        processPendingChanges()
    }
}
