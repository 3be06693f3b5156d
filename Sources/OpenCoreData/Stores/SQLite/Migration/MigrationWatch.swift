import Foundation
import GRDBSQLite

/// Option: a `MigrationWatch` that is told what takes long while a file is opened, or while another one is put in its place.
package let SQLiteMigrationWatchOption = "OpenCoreDataSQLiteMigrationWatch"

/// Who looks on while a file is copied, checked and brought to another model, and may end it.
package struct MigrationWatch: Sendable {
    /// What is being done.
    package enum Step: Sendable, Hashable {
        /// Pages are copied from one file to another.
        case copying
        /// What was copied is written to the disk: one call of SQLite's, which says nothing until it returns, and can't be ended.
        case finishingCopy
        /// SQLite looks for damage in the whole file. With older versions of it that is mostly one instruction, during which nothing is told.
        case checking
        /// Rows are brought to the other model.
        case migrating
        /// The rows are written to the disk: one call, as above.
        case committing
    }

    /// Called often, on the thread that works, with a step and the share of it that is done, 0 to 1, which never falls; of a check and of what is one call, 0
    /// until it is over, and then 1. False ends everything: the file stays as it was, and whoever asked for it gets 3072, user cancelled. What is written to
    /// the disk can't be ended any more, and false means nothing then.
    package let goesOn: @Sendable (Step, Double) -> Bool

    /// Told of all that is done to a store that is opened, or replaced, with it.
    package init(_ goesOn: @escaping @Sendable (Step, Double) -> Bool) {
        self.goesOn = goesOn
    }

    /// What is thrown where it ends something.
    static func givenUp(_ what: String) -> CocoaError {
        CocoaError(.userCancelled, userInfo: [NSLocalizedDescriptionKey: "\(what) was given up. Nothing was changed."])
    }

    /// Asks while SQLite works on this connection, and has it stop where the watch has had enough.
    ///
    /// - Parameter pause: how many instructions of its virtual machine SQLite runs between two calls, or pages it looks at.
    static func listening<T>(on connection: OpaquePointer, pause: Int32, to goesOn: @escaping () -> Bool, _ body: () throws -> T) rethrows -> T {
        let listener = Listener(goesOn)
        sqlite3_progress_handler(
            connection, pause,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().goesOn() ? 0 : 1
            }, Unmanaged.passUnretained(listener).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try withExtendedLifetime(listener, body)
    }
}

/// What SQLite calls back.
private final class Listener {
    let goesOn: () -> Bool

    init(_ goesOn: @escaping () -> Bool) {
        self.goesOn = goesOn
    }
}
