import ArgumentParser
import Foundation
import SyncControl

/// `quarantine`: records that were set aside because they could not be mapped.
struct QuarantineVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Records that were set aside because they could not be mapped.",
        subcommands: [QuarantineList.self, QuarantineShow.self])
}

/// `quarantine list`
struct QuarantineList: Verb {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the newest records, one per line.")

    @OptionGroup var options: CommonOptions

    @Option(help: "Show at most this many.")
    var limit = 50

    @Option(help: "Skip this many of the newest.")
    var skip = 0

    func validate() throws {
        guard (1...ControlRequest.maxLimit).contains(limit) else {
            throw ValidationError("--limit takes a number from 1 to \(ControlRequest.maxLimit)")
        }
        guard (0...Int(Int32.max)).contains(skip) else { throw ValidationError("--skip takes a number from 0 to \(Int32.max)") }
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let records = try await surroundings.withClient(options) { try await $0.quarantine(limit: limit, skip: skip) }
        let console = surroundings.console
        if options.json {
            try console.json(records, pretty: true)
        } else if records.isEmpty {
            console.out("no records are set aside")
        } else {
            var table = TextTable(titles: [("ID", .left), ("RESOURCE", .left), ("SEEN", .right), ("COUNT", .right), ("REASON", .left)])
            let now = surroundings.now()
            for record in records {
                table.rows.append([
                    TextTable.Cell(String(record.digest.prefix(12))), TextTable.Cell("\(record.scope)"),
                    TextTable.Cell(RelativeTime.text(now.timeIntervalSince(record.seenAt)) + " ago"), TextTable.Cell("\(record.count)"),
                    TextTable.Cell(record.reason),
                ])
            }
            console.table(table)
        }
        return .success
    }
}

/// `quarantine show`
struct QuarantineShow: Verb {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one record with its reason and its raw text.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The id, or its beginning, as `quarantine list` shows it.")
    var id: String

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let found = try await surroundings.withClient(options) { try await $0.quarantine(id: id, limit: 10) }
        guard let record = found.first else {
            throw ControlError("no record with the id \(id) was set aside", advice: "look at `cisternctl quarantine list`", code: .dataError)
        }
        guard found.count == 1 else {
            throw ControlError("several records have an id that begins with \(id)", advice: "give more characters of the id", code: .usage)
        }
        if options.json {
            try surroundings.console.json(record, pretty: true)
            return .success
        }
        let console = surroundings.console
        console.out("id        \(record.digest)")
        console.out("resource  \(record.scope)")
        console.out("place     run \(record.run), page \(record.page), record \(record.record)")
        console.out("seen      \(record.seenAt.formatted(.iso8601)), \(record.count) time\(record.count == 1 ? "" : "s")")
        console.out("reason    \(record.reason)" + (record.path.isEmpty ? "" : " at \(record.path)"))
        if !record.raw.isEmpty { console.block("\n\(record.raw)") }
        return .success
    }
}
