import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl

/// `config presets`
struct ConfigPresets: Verb {
    static let configuration = CommandConfiguration(
        commandName: "presets", abstract: "List the presets for well-known services; with a name, show what one wants and has.",
        discussion: """
            A source that says preset = "NAME" is asked as the preset says. Presets are files NAME.toml in presets beside the configuration file and \
            in /usr/share/cistern/presets. Ends with 65 if there is no such preset, or one cannot be read.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "The preset to show.")
    var name: String?

    private struct Shown: Encodable {
        struct Parameter: Encodable {
            var name: String
            var type: String
            var required: Bool
            var `default`: String?
            var oneOf: [String]
            var meaning: String
        }
        struct Resource: Encodable {
            var name: String
            var entity: String
            var isDefault: Bool
            var forEach: String?
        }
        struct Credential: Encodable {
            var key: String
            var meaning: String
        }
        var name: String
        var file: String
        var summary: String
        var documentation: String
        var parameters: [Parameter]
        var credentials: [Credential]
        var resources: [Resource]
        var toml: String

        init(_ preset: Preset) {
            name = preset.name
            file = preset.path
            summary = preset.summary
            documentation = preset.documentation
            parameters = preset.parameters.map {
                Parameter(
                    name: $0.name, type: $0.kind.rawValue, required: $0.isRequired, default: $0.defaultValue.map { "\($0)" }, oneOf: $0.choices,
                    meaning: $0.meaning)
            }
            credentials = preset.credentials.map { Credential(key: $0.keyPath, meaning: $0.meaning) }
            resources = preset.resources.map { Resource(name: $0.name, entity: $0.entity, isDefault: $0.isDefault, forEach: $0.parent) }
            toml = preset.text
        }
    }

    private struct Listed: Encodable {
        var name: String
        var summary: String
        var file: String
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let library = surroundings.reader(options).presets
        if let name { return try show(name, in: library, surroundings) }
        var presets: [Preset] = [], code = ControlExitCode.success
        for name in library.names {
            do throws(ConfigurationError) {
                presets.append(try library.preset(named: name))
            } catch {
                for problem in error.problems { surroundings.console.error("\(problem)") }
                code = .dataError
            }
        }
        if options.json {
            let listed = presets.map { Listed(name: $0.name, summary: $0.summary, file: $0.path) }
            try surroundings.console.json(listed, pretty: true)
        } else if library.names.isEmpty {
            surroundings.console.error("no presets are in \(library.directories.joined(separator: " or "))")
        } else {
            var table = TextTable(titles: [("PRESET", .left), ("WHAT IT MIRRORS", .left)])
            table.rows = presets.map { [TextTable.Cell($0.name), TextTable.Cell($0.summary)] }
            surroundings.console.table(table)
        }
        return code
    }

    private func show(_ name: String, in library: PresetLibrary, _ surroundings: Surroundings) throws -> ControlExitCode {
        let preset: Preset
        do throws(ConfigurationError) {
            preset = try library.preset(named: name)
        } catch {
            throw ControlError("\(error)", code: .dataError)
        }
        if options.json {
            try surroundings.console.json(Shown(preset), pretty: true)
        } else {
            surroundings.console.block(Self.text(of: preset))
        }
        return .success
    }

    /// What a preset wants and has, as comments before the file itself.
    static func text(of preset: Preset) -> String {
        var lines = [preset.summary, preset.documentation, preset.path, "", "A source that says no more than it must:", ""]
        lines += preset.example.map { "    \($0)" }
        func section(_ title: String, _ rows: [(String, String)]) {
            guard !rows.isEmpty else { return }
            let width = rows.map(\.0.count).max() ?? 0
            lines += ["", title, ""] + rows.map { "    \($0.0)\(String(repeating: " ", count: width - $0.0.count))  \($0.1)" }
        }
        section("What it needs besides:", preset.credentials.map { ($0.keyPath, $0.meaning) })
        section("What [source.with] may say:", preset.parameters.map { ($0.name, "\($0.requirement): \($0.meaning)") })
        section(
            "Its resources; those with + only if resources = [\"…\"] names them:",
            preset.resources.map { resource in
                let parts = resource.parent.map { ", one list for each of \($0)" } ?? ""
                return ("\(resource.isDefault ? " " : "+") \(resource.name)", "\(resource.entity)\(parts)")
            })
        let comments = lines.map { $0.isEmpty ? "#" : "# \($0)" }
        return comments.joined(separator: "\n") + "\n\n" + preset.text
    }
}
