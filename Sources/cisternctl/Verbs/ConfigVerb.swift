import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl

/// `config`: what is set, and what is built in.
struct ConfigVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "The configuration: what is set, what is in force, what is built in.",
        subcommands: [ConfigShow.self, ConfigDefault.self, ConfigCapabilities.self, ConfigPresets.self])
}

/// `config show`
struct ConfigShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what the files set; with --resolved, every setting in force.")

    @OptionGroup var options: CommonOptions

    @Flag(help: "Show every setting, built-in ones included.")
    var resolved = false

    @Flag(help: "Add to each line where its value comes from.")
    var origin = false

    @Flag(help: "Show what the running daemon uses, not what the files say now.")
    var running = false

    private struct Setting: Encodable {
        var key: String
        var value: String
        var origin: String
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        if running {
            let configuration = try await surroundings.withClient(options) { try await $0.configuration() }
            if options.json {
                try surroundings.console.json(configuration, pretty: true)
            } else {
                surroundings.console.block(configuration.toml)
            }
            return .success
        }
        let reading = surroundings.reader(options).read()
        for warning in reading.warnings { surroundings.console.error("\(warning)") }
        guard let all = reading.resolved else {
            throw ControlError(
                "the configuration cannot be used", advice: "correct it: cisternctl check", code: .configuration,
                problems: reading.errors.map(\.description))
        }
        let shown = resolved ? all : Self.setInFiles(all)
        if options.json {
            let settings = shown.settings.map { Setting(key: $0.keyPath, value: $0.value, origin: "\($0.origin)") }
            try surroundings.console.json(settings, pretty: true)
        } else {
            surroundings.console.block(shown.toml(origins: origin))
        }
        return .success
    }

    /// Only what stands in a file.
    static func setInFiles(_ all: ResolvedConfiguration) -> ResolvedConfiguration {
        var result = all
        result.sections = all.sections.compactMap { section in
            var section = section
            section.settings = section.settings.filter { if case .file = $0.origin { true } else { false } }
            return section.settings.isEmpty ? nil : section
        }
        return result
    }
}

/// `config default`
struct ConfigDefault: Verb {
    static let configuration = CommandConfiguration(commandName: "default", abstract: "Print every built-in setting, as a configuration file.")

    @OptionGroup var options: CommonOptions

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        surroundings.console.block(ResolvedConfiguration.builtIn.toml())
        return .success
    }
}

/// `config capabilities`
struct ConfigCapabilities: Verb {
    static let configuration = CommandConfiguration(
        commandName: "capabilities", abstract: "List what services may ask of a client and a configuration of this version can say.")

    @OptionGroup var options: CommonOptions

    private struct Capabilities: Encodable {
        var name: String
        var supports: [String]
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let supported = Capability.supported
        if options.json {
            try surroundings.console.json(Capabilities(name: "cistern \(CisternVersion.current)", supports: supported), pretty: true)
        } else {
            for name in supported { surroundings.console.out(name) }
        }
        return .success
    }
}
