import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl

/// `model`: models of Xcode's editor.
struct ModelVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Models of Xcode's model editor.", subcommands: [ModelShow.self])
}

/// `model show`
struct ModelShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a model of Xcode's model editor as tables of the configuration.",
        discussion: """
            What [model] file = "FILE" would read, and what it would leave out. The tables may be copied into a configuration, or a few of their \
            lines set in tables of the same names beside it. Ends with 65 if FILE is no model, or an error is told of it.
            """)

    @OptionGroup var options: CommonOptions

    @Option(help: ArgumentHelp("Show this version instead of the current one.", valueName: "name"))
    var modelVersion: String?

    @Flag(help: "Add to each line where in the model it comes from.")
    var origin = false

    @Argument(help: "A package NAME.xcdatamodeld, or one version, NAME.xcdatamodel.")
    var file: String

    private struct Shown: Encodable {
        struct Setting: Encodable {
            var key: String
            var value: String
            var origin: String
        }
        var version: String
        var versions: [String]
        var settings: [Setting]
        var problems: [String]
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let tables: ModelTables
        do throws(ConfigurationError) {
            tables = try ModelTables(contentsOf: file, version: modelVersion, files: surroundings.files)
        } catch {
            throw ControlError("\(error)", code: .dataError)
        }
        let code: ControlExitCode = tables.problems.contains { $0.severity == .error } ? .dataError : .success
        if options.json {
            let settings = tables.resolved.settings.map { Shown.Setting(key: $0.keyPath, value: $0.value, origin: "\($0.origin)") }
            try surroundings.console.json(
                Shown(version: tables.version, versions: tables.versions, settings: settings, problems: tables.problems.map(\.description)),
                pretty: true)
            return code
        }
        for problem in tables.problems { surroundings.console.error("\(problem)") }
        let others = tables.versions.count == 1 ? "" : " of " + tables.versions.joined(separator: ", ")
        surroundings.console.block("# \(tables.version)\(others)\n\n" + tables.resolved.toml(origins: origin))
        return code
    }
}
