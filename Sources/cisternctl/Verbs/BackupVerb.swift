import ArgumentParser
import DocumentPackages
import Foundation
import SyncConfiguration
import SyncControl

/// `backup`: copies of the document, made while cisternd works.
struct BackupVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copies of the database, made while cisternd works.", subcommands: [BackupMake.self, BackupList.self],
        defaultSubcommand: BackupMake.self)
}

/// `backup make`
struct BackupMake: Verb {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Have cisternd make a backup, and wait until it is complete. `backup` alone does the same.",
        discussion: """
            It has what `status` says is saved, is checked, and is in the folder of [store.backup] dir. The oldest ones beyond keep are removed \
            afterwards. Refresh tokens are in none. Ends with 0, or 74 if the disk does not allow it, 75 if another one is being made.
            """)

    @OptionGroup var options: CommonOptions

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let report = try await surroundings.withClient(options) { try await $0.backup() }
        if options.json {
            try surroundings.console.json(report)
        } else {
            surroundings.console.out("\(report.path): \(BackupList.size(report.bytes))")
            for name in report.removed { surroundings.console.out("\(name) was removed for it") }
        }
        return .success
    }
}

/// `backup list`
struct BackupList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the backups, the newest first. Works whether cisternd runs or not.")

    @OptionGroup var options: CommonOptions

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let configuration = try surroundings.configuration(options), folder = BackupFolder(configuration.store.backup.directory)
        let entries: [BackupFolder.Entry]
        do throws(PackageFailure) { entries = try folder.entries() } catch {
            throw ControlError(error.message, advice: "join the group that may read the database, or use sudo", code: .noPermission)
        }
        let console = surroundings.console
        if options.json {
            let reports = entries.map {
                BackupReport(name: $0.name.text, path: $0.path, bytes: $0.bytes, madeAt: $0.name.madeAt, document: $0.document)
            }
            try console.json(reports, pretty: true)
        } else if entries.isEmpty {
            console.out("there is no backup in \(folder.path)")
        } else {
            var table = TextTable(titles: [("NAME", .left), ("AGE", .right), ("SIZE", .right), ("OF", .left)])
            let now = surroundings.now()
            for entry in entries {
                table.rows.append([
                    TextTable.Cell(entry.name.text), TextTable.Cell(RelativeTime.text(now.timeIntervalSince(entry.name.madeAt))),
                    TextTable.Cell(Self.size(entry.bytes)), TextTable.Cell(entry.document ?? ""),
                ])
            }
            console.table(table)
        }
        return .success
    }

    /// In whole MiB, rounded up.
    static func size(_ bytes: Int64) -> String { "\((bytes + (1 << 20) - 1) >> 20) MiB" }
}

/// `restore`: a backup in the place of the store.
struct RestoreVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the place of the database. cisternd must be stopped.",
        discussion: """
            The backup is copied and read through first; it stays as it is. What was there is set aside beside it, as StoreContent.before-restore-TIME, \
            and never removed. The next polls then ask for what has happened since the backup. A wait that a server asked for after it is not known any \
            more, and refresh tokens stay those of now. Ends with 0; 74 if the disk fails, and says whether it is done all the same; 75 if cisternd has the database open, 65 if the backup is damaged or is none.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "The name of a backup as `backup list` shows it, or the path of one, with a slash in it.")
    var backup: String

    private struct Report: Encodable {
        var document: String
        var backup: String
        var kept: String?
        var rows: Int
        var changed: Int
        var doubt: String?
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let configuration = try surroundings.configuration(options), document = configuration.document.path
        let path = backup.contains("/") ? backup : "\(configuration.store.backup.directory)/\(backup)"
        let result: DocumentRestore.Result
        do throws(PackageFailure) {
            result = try DocumentRestore(document, from: path, version: CisternVersion.current).run(at: surroundings.now())
        } catch {
            throw Self.error(error)
        }
        if options.json {
            try surroundings.console.json(
                Report(document: document, backup: path, kept: result.kept, rows: result.rows, changed: result.changed, doubt: result.doubt),
                pretty: true)
            return result.doubt == nil ? .success : .ioError
        }
        let console = surroundings.console
        console.out("\(path) is in the place of the database of \(document): \(result.rows) rows.")
        if result.changed > 0 { console.out("\(result.changed) of them are not as cisternd wrote them, and are read again at the next poll.") }
        if let kept = result.kept { console.out("What was there is kept in \(kept). Remove it when you need it no longer.") }
        if let doubt = result.doubt {
            console.error("The backup is restored, but this failed: \(doubt). Look at the disk; the next start of cisternd ends what can be ended.")
        }
        console.out("Start cisternd: systemctl start cisternd")
        return result.doubt == nil ? .success : .ioError
    }

    static func error(_ failure: PackageFailure) -> ControlError {
        switch failure.kind {
        case .inUse: ControlError(failure.message, advice: "stop cisternd first: systemctl stop cisternd", code: .temporaryFailure)
        case .damaged, .unusable:
            ControlError(failure.message, advice: "nothing was changed; `cisternctl backup list` shows what there is", code: .dataError)
        case .notPermitted: ControlError(failure.message, code: .noPermission)
        case .unsettled: ControlError(failure.message, advice: "start cisternd, or restore once more: either ends it", code: .ioError)
        case .full, .disk, .notWritable: ControlError(failure.message, advice: "nothing was changed", code: .ioError)
        case .givenUp: ControlError(failure.message, code: .failure)
        }
    }
}
