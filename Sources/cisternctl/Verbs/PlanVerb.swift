import ArgumentParser
import Foundation
import OpenCoreData
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `plan --model`: what the next start does to the store, before it does so.
struct PlanVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Say what a changed [entity] means for the store.",
        discussion: """
            Reads the configuration and the store, whether cisternd runs or not, and changes nothing. Ends with 0, or 78 if cisternd would not start \
            with this configuration over this store.
            """)

    @OptionGroup var options: CommonOptions

    @Flag(help: "Compare the model of the configuration with that of the store.")
    var model = false

    func validate() throws {
        if !model { throw ValidationError("--model is required: nothing else is planned") }
    }

    private struct Report: Encodable {
        var changes: [String]
        var refused: [String]
        var objects: Int
        var rows: Int
        var seconds: Double
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let plan = try StorePlan(surroundings, try surroundings.configuration(options))
        if options.json {
            let changes = plan.changes
            let report = Report(
                changes: changes?.all.map(\.words) ?? [], refused: plan.refused.map(\.words), objects: changes?.objects ?? 0,
                rows: changes?.rows ?? 0, seconds: changes?.seconds ?? 0)
            try surroundings.console.json(report, pretty: true)
        } else {
            for line in plan.lines { surroundings.console.out(line) }
        }
        return plan.startsOver ? .success : .configuration
    }
}

/// What a configuration means for the store that is there.
struct StorePlan {
    /// Nil where the store is of the model, or is not there yet.
    let changes: ModelChanges?
    private let isThere: Bool
    private let rule: StoreConfiguration.SchemaChangeRule

    /// - Throws: `ControlError`: 78 for a model to which the store can't be brought, 74 for a store that can't be read.
    init(_ surroundings: Surroundings, _ configuration: CisternConfiguration) throws {
        let store = configuration.document.path + "/StoreContent/persistentStore"
        isThere = surroundings.exists(store)
        rule = configuration.store.onSchemaChange
        do {
            let model = try SyncPipeline.model(for: configuration)
            changes = isThere ? try ModelChanges(store: URL(fileURLWithPath: store), model: model, dropped: configuration.model.dropped) : nil
        } catch {
            let isOfModel = [134100, 134110, 134111, 134130, 134190].contains((error as NSError).code)
            throw ControlError(
                error.localizedDescription,
                advice: isOfModel ? "undo the change of [entity], or move the store away to have everything fetched again" : nil,
                code: isOfModel ? .configuration : .ioError)
        }
    }

    var refused: [StoreMigrationPlan.Change] { changes?.refused ?? [] }

    /// Whether the rule stands against it. Indexes alone are no change of the schema.
    private var isForbidden: Bool { changes.map { !$0.isOfModel } ?? false && rule == .refuse }

    /// Whether cisternd starts over this store.
    var startsOver: Bool { refused.isEmpty && !isForbidden }

    private static func time(_ changes: ModelChanges) -> String {
        if changes.rows == 0 { return "a moment" }
        let time = changes.seconds < 1 ? "less than a second" : "about \(RelativeTime.text(changes.seconds.rounded()))"
        return "\(time) (\(changes.work))"
    }

    var lines: [String] {
        guard let changes else {
            return [isThere ? "The store is of this model: nothing changes." : "There is no store yet: cisternd makes one of this model."]
        }
        var lines = changes.all.map { $0.words.prefix(1).uppercased() + $0.words.dropFirst() + "." }
        if isForbidden {
            lines.append("cisternd does not start: [store] on_schema_change is \"\(rule.rawValue)\".")
        } else if !changes.refused.isEmpty {
            let names = changes.refused.map(\.words).joined(separator: ", ")
            lines.append("cisternd does not start: \(names). Say what it is called now (renamed_from) or that it may go (drop = true).")
        } else {
            let copy = changes.losses.isEmpty ? "" : " It keeps a copy of the store as it is."
            lines.append("cisternd brings the store to this model at its next reload or start, which takes \(Self.time(changes)).\(copy)")
        }
        return lines
    }
}
