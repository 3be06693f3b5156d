import ArgumentParser
import Foundation
import OpenCoreData
import SyncConfiguration
import SyncControl

/// `verify --local`: the rows of the store beside what was written into it.
struct VerifyVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare the rows on disk with what cisternd wrote.",
        discussion: """
            Reads the whole store, whether cisternd runs or not, and changes nothing. Finds what a failing disk or another program did to rows: a \
            sum of its values stands beside each of them. Ends with 0, or 65 if anything was found.
            """)

    @OptionGroup var options: CommonOptions

    @Flag(help: "Compare with the sums in the store. Asks no server.")
    var local = false

    func validate() throws {
        if !local { throw ValidationError("--local is required: this version cannot compare with what the servers have") }
    }

    private struct Report: Encodable {
        struct Entity: Encodable {
            var entity: String
            var rows: Int
            var changed: Int
            var unknown: Int
            var keys: [Int64]
        }

        var sound: Bool
        var damage: [String]
        var entities: [Entity]
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let store = try surroundings.configuration(options).document.path + "/StoreContent/persistentStore"
        guard surroundings.exists(store) else {
            throw ControlError(
                "there is no store at \(store), or you may not read it",
                advice: "start cisternd once; to read the store, join the group cistern", code: .unavailable)
        }
        let found: SQLiteStoreVerification
        do { found = try SQLiteStoreVerification.verify(URL(fileURLWithPath: store)) } catch {
            throw ControlError(error.localizedDescription, code: .ioError)
        }
        if options.json {
            let entities = found.entities.map {
                Report.Entity(entity: $0.name, rows: $0.rows, changed: $0.changed, unknown: $0.unknown, keys: $0.keys)
            }
            try surroundings.console.json(Report(sound: found.isSound, damage: found.damage, entities: entities), pretty: true)
        } else {
            for line in Self.lines(found, store: store) { surroundings.console.out(line) }
        }
        return found.isSound ? .success : .dataError
    }

    static func lines(_ found: SQLiteStoreVerification, store: String) -> [String] {
        var lines = found.damage.map { "\(store) is damaged: \($0)" }
        for entity in found.entities where entity.changed > 0 {
            let keys = entity.keys.map(String.init).joined(separator: ", ")
            let more = entity.changed > entity.keys.count ? " and \(entity.changed - entity.keys.count) more" : ""
            let noun = entity.changed == 1 ? "row is" : "rows are"
            lines.append("\(entity.name): \(entity.changed) \(noun) not as cisternd wrote \(entity.changed == 1 ? "it" : "them"): _pk \(keys)\(more)")
        }
        let unknown = found.entities.reduce(0) { $0 + $1.unknown }
        if unknown > 0 { lines.append("\(unknown) \(unknown == 1 ? "row has" : "rows have") no sum yet; cisternd adds them when it starts") }
        if !found.isSound {
            lines.append("Restore a copy, or stop cisternd, move the store away and start cisternd again: it then fetches everything anew.")
        } else {
            let rows = found.entities.reduce(0) { $0 + $1.rows }
            lines.append("\(rows) \(rows == 1 ? "row is" : "rows are") as cisternd wrote them.")
        }
        return lines
    }
}
