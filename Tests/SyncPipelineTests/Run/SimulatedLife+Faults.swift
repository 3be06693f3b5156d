import Foundation
import GRDB
import OpenCoreDataTestSupport
import SyncTestSupport

@testable import OpenCoreData
@testable import SyncPipeline

/// What a file and the disk below it can do to a process.
extension SimulatedLife {
    /// The document tries again within a minute.
    private static let retryTime = Duration.seconds(61)

    // MARK: A file that is locked

    mutating func lockFile() throws {
        guard let process, lock == nil else { return }
        simulation.tell("somebody locks the file")
        lock = try Self.locked(process.document.storeURL)
        isBehind = true
    }

    static func locked(_ file: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return queue
    }

    static func release(_ queue: DatabaseQueue) throws {
        try queue.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try queue.close()
    }

    mutating func unlock() throws {
        if try takeLock() { pass(Self.retryTime) }
    }

    private mutating func takeLock() throws -> Bool {
        guard let queue = lock else { return false }
        simulation.tell("the file is not locked any more")
        try Self.release(queue)
        lock = nil
        return true
    }

    // MARK: A disk that is full

    /// Nothing can be written any more; or something can again, where nothing could.
    mutating func fillDisk(_ cause: ResultCode) {
        guard let disk = process?.disk else { return }
        if disk.cause != nil {
            if freeDisk() { pass(Self.retryTime) }
            return
        }
        simulation.tell("every commit fails: \(cause)")
        disk.cause = cause
        isBehind = true
    }

    private func freeDisk() -> Bool {
        guard let disk = process?.disk, disk.cause != nil else { return false }
        simulation.tell("what there is can be written again")
        disk.cause = nil
        return true
    }

    // MARK: A disk that is slow

    /// A commit begins and does not come to its end for some time, in which the clock goes on, servers answer, and the process may be ended. In which
    /// order that is seen is nobody's decision.
    mutating func slowDown(_ random: inout SeededNumbers) async throws {
        guard let process, lock == nil, process.disk.cause == nil else { return }
        simulation.tell("the disk is slow") { [clock] in $0.loseSight(at: clock.instant) }
        process.disk.isSlow = true
        isBehind = true
        Task { try? await process.document.save() }
        for _ in 0...random.next(upTo: 4) {
            if random.chance(40) {
                simulation.answer(nil, using: &random)
            } else {
                pass([.seconds(1), .seconds(61), .seconds(3600)][random.next(upTo: 3)])
            }
            try await rest()
        }
        switch random.next(upTo: 6) {
        case 0: try await stop(&random)
        case 1: try await kill()
        default: hurry()
        }
    }

    private func hurry() {
        guard let disk = process?.disk, disk.isSlow else { return }
        simulation.tell("the disk is fast again")
        disk.isSlow = false
    }

    /// Nothing is in the way of writing any more. Time passes once: what it sets off is to come to rest before it does again.
    mutating func mend() throws {
        let wasLocked = try takeLock(), wasFull = freeDisk()
        hurry()
        if wasLocked || wasFull { pass(Self.retryTime) }
    }
}
