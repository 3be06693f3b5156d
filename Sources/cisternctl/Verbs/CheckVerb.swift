import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `check`: the whole configuration and its model, without the daemon, and without the network unless that is asked for.
struct CheckVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the whole configuration and its model; with --online, try each resource on its service.",
        discussion: """
            Changes nothing, and contacts no server unless --online is given. Where the model is not that of the store, says what it means for what \
            is in it, as the verb plan does. Ends with 0, or 78 if the configuration cannot be used, or not over this store. With --online: \
            69 if a server cannot be reached, 75 if one asked to be left alone, 76 for answers that are not what the configuration says, 77 \
            for credentials.
            """)

    @OptionGroup var options: CommonOptions

    @Flag(help: "Then try each resource on its service with the standard tests: at most four requests each. Writes nothing.")
    var online = false

    @Argument(help: "With --online: SOURCE or SOURCE/RESOURCE.")
    var scope: String?

    func validate() throws {
        if scope != nil, !online { throw ValidationError("only --online takes a source or a resource: the rest is checked as a whole") }
    }

    struct Problem: Encodable {
        var severity: String
        var file: String
        var line: Int?
        var column: Int?
        var key: String
        var message: String
        var suggestion: String?
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let reading = surroundings.reader(options).read()
        var problems = reading.problems
        var errors = reading.errorCount
        if let configuration = reading.configuration {
            do {
                _ = try SyncPipeline.model(for: configuration)
            } catch {
                problems.append(ConfigurationProblem(file: reading.files.first ?? "", message: "\(error)"))
                errors += 1
            }
        }
        var planned: [String] = []
        if errors == 0, let configuration = reading.configuration {
            var refusal: String?
            do {
                let plan = try StorePlan(surroundings, configuration)
                if plan.changes != nil { planned = plan.lines }
                if !plan.startsOver { refusal = planned.popLast() }
            } catch let error as ControlError where error.code == .configuration {
                refusal = "\(error)"
            } catch {
                // Whoever checks may not be allowed to read the store, and the configuration is none the worse for it.
                planned = ["The store was not looked at: \(error)"]
            }
            if let refusal {
                problems.append(ConfigurationProblem(file: reading.files.first ?? "", message: refusal))
                errors += 1
            }
        }
        let isOnline = online && errors == 0
        if options.json {
            let rows = problems.map {
                Problem(
                    severity: $0.severity.rawValue, file: $0.file, line: $0.line, column: $0.column, key: $0.keyPath, message: $0.message,
                    suggestion: $0.suggestion)
            }
            if isOnline, let configuration = reading.configuration {
                return try await OnlineCheck(configuration, scope: scope, surroundings).report(besides: rows)
            }
            try surroundings.console.json(rows, pretty: true)
        } else {
            for problem in problems { surroundings.console.out("\(problem)") }
            surroundings.console.out(Self.summary(reading, errors: errors, warnings: reading.warningCount))
            for line in planned { surroundings.console.out(line) }
        }
        if isOnline, let configuration = reading.configuration {
            return try await OnlineCheck(configuration, scope: scope, surroundings).show()
        }
        return errors == 0 ? .success : .configuration
    }

    static func summary(_ reading: ConfigurationReading, errors: Int, warnings: Int) -> String {
        func count(_ number: Int, _ noun: String, _ plural: String) -> String { "\(number) \(number == 1 ? noun : plural)" }
        let tail = warnings == 0 ? "" : ", " + count(warnings, "warning", "warnings")
        guard errors == 0, let configuration = reading.configuration else { return count(errors, "error", "errors") + tail }
        return "The configuration can be used: \(count(configuration.sources.count, "source", "sources")), "
            + "\(count(configuration.sources.flatMap(\.resources).count, "resource", "resources")), "
            + "\(count(configuration.model.entities.count, "entity", "entities"))\(tail)"
    }
}
