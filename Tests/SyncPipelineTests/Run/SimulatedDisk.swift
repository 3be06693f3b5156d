import Foundation
import GRDB

@testable import OpenCoreData

/// The disk below the file of a simulated process: full, or so slow that a commit does not come to its end. Every commit asks it.
// What changes is guarded by the condition.
final class SimulatedDisk: TransactionObserver, @unchecked Sendable {
    private let condition = NSCondition()
    private var failure: ResultCode?
    private var holds = false
    private var waiting = 0

    /// Why nothing can be written; nil where something can.
    var cause: ResultCode? {
        get { condition.withLock { failure } }
        set { condition.withLock { failure = newValue } }
    }

    var isFull: Bool {
        get { cause == .SQLITE_FULL }
        set { cause = newValue ? .SQLITE_FULL : nil }
    }

    /// Whether a commit waits until the disk is fast again.
    var isSlow: Bool {
        get { condition.withLock { holds } }
        set {
            condition.withLock {
                holds = newValue
                condition.broadcast()
            }
        }
    }

    /// Whether a commit waits now.
    var isHolding: Bool { condition.withLock { holds && waiting > 0 } }

    func stand(under document: UIManagedDocument) throws {
        guard let store = document.root.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore else { return }
        store.pool.add(transactionObserver: self)
    }

    func databaseWillCommit() throws {
        condition.lock()
        defer { condition.unlock() }
        waiting += 1
        while holds { condition.wait() }
        waiting -= 1
        if let failure { throw DatabaseError(resultCode: failure, message: "by the simulation") }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
