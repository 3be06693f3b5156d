import AirbyteManifests
import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `import`: what other programs are configured by, as a configuration.
struct ImportVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Make a configuration of what another program is configured by.", subcommands: [ImportAirbyte.self])
}

/// `import airbyte`
struct ImportAirbyte: Verb {
    static let configuration = CommandConfiguration(
        commandName: "airbyte", abstract: "Make a configuration of the manifest of a declarative Airbyte connector.",
        discussion: """
            Each stream becomes a resource. A stream that would fetch something else, or other records, is left out whole and told; so is what is \
            carried over in another way. What is written is a draft: secrets are named as credentials, and what nobody has said is marked. Ends \
            with 1 if something was left out, and with 65 if the file is no manifest, or nothing of it can be converted.
            """)

    @OptionGroup var options: CommonOptions

    @Option(name: [.customShort("o"), .long], help: ArgumentHelp("Write the configuration to this file instead of the output.", valueName: "file"))
    var output: String?

    @Flag(help: "Write over a file that is there.")
    var force = false

    @Option(help: ArgumentHelp("What the source is called (default: what the file or its directory is called).", valueName: "name"))
    var name: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("The value of a field that the connector asks its user for. May be repeated.", valueName: "field=value"))
    var fields: [String] = []

    @Argument(help: "The manifest, as YAML or JSON.")
    var manifest: String

    private struct Report: Encodable {
        var configuration: String?
        var output: String?
        var sources: [String]
        var streams: [String]
        var leftOut: [AirbyteFinding]
        var remarks: [AirbyteFinding]
        var credentials: [AirbyteConversion.Credential]
        var values: [AirbyteConversion.Value]
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        if let output, !force, surroundings.exists(output) {
            throw ControlError("\(output) is there already", advice: "name another file, or add --force", code: .usage)
        }
        let conversion = try conversion(surroundings)
        if let toml = conversion.toml, let output { try write(toml, to: output) }
        if options.json {
            let report = Report(
                configuration: output == nil ? conversion.toml : nil, output: conversion.toml == nil ? nil : output, sources: conversion.sources,
                streams: conversion.streams, leftOut: conversion.findings.filter(\.isLeftOut),
                remarks: conversion.findings.filter { !$0.isLeftOut }, credentials: conversion.credentials, values: conversion.values)
            try surroundings.console.json(report, pretty: true)
        } else {
            tell(conversion, surroundings.console)
            if output == nil, let toml = conversion.toml { surroundings.console.block(toml) }
        }
        if conversion.toml == nil { return .dataError }
        return conversion.isPartial ? .failure : .success
    }

    private func conversion(_ surroundings: Surroundings) throws -> AirbyteConversion {
        let bytes: [UInt8]
        do {
            bytes = try surroundings.files.contents(of: manifest)
        } catch {
            throw ControlError("\(manifest) cannot be read: \(error)", code: .dataError)
        }
        do {
            return try AirbyteConversion(
                manifest: bytes, file: manifest, name: name ?? Self.name(of: manifest), settings: try Self.settings(fields),
                accepts: { configuration in
                    do {
                        _ = try SyncPipeline.model(for: configuration)
                        return nil
                    } catch {
                        return "\(error)"
                    }
                })
        } catch let error as ManifestError {
            throw ControlError("\(error)", code: .dataError)
        }
    }

    /// What was left out and what is otherwise, what has to be provided, and how much there is; beside the output.
    private func tell(_ conversion: AirbyteConversion, _ console: Console) {
        for finding in conversion.findings where finding.isLeftOut { console.error("\(manifest):\(finding)") }
        for finding in conversion.findings where !finding.isLeftOut { console.error("\(manifest):\(finding.line): note: \(finding.text)") }
        for credential in conversion.credentials { console.error("Provide the credential \(credential.name): \(credential.holds)") }
        for value in conversion.values where value.source == .placeholder { console.error("Fill in \(value.field): \(value.value)") }
        let leftOut = Set(conversion.findings.filter(\.isLeftOut).compactMap(\.stream)).subtracting(conversion.streams).count
        let count = conversion.streams.count
        console.error("\(count) \(count == 1 ? "stream" : "streams") converted" + (leftOut == 0 ? "" : ", \(leftOut) left out"))
    }

    private func write(_ toml: String, to path: String) throws {
        do {
            try Data(toml.utf8).write(to: URL(fileURLWithPath: path), options: force ? [.atomic] : [.withoutOverwriting])
        } catch {
            throw ControlError("\(path) cannot be written: \((error as NSError).localizedDescription)", code: .ioError)
        }
    }

    static func settings(_ texts: [String]) throws -> [String: String] {
        var settings: [String: String] = [:]
        for text in texts {
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw ControlError("\"\(text)\" sets nothing", advice: "write FIELD=VALUE, as in subdomain=acme", code: .usage)
            }
            settings[String(text[..<sign])] = String(text[text.index(after: sign)...])
        }
        return settings
    }

    /// What a source is called after a file: `aha` for `source-aha/manifest.yaml`.
    static func name(of path: String) -> String {
        let parts = path.split(separator: "/").map(String.init)
        var name = parts.last ?? ""
        if let dot = name.lastIndex(of: "."), dot > name.startIndex { name = String(name[..<dot]) }
        if name == "manifest" { name = parts.count > 1 ? parts[parts.count - 2] : "imported" }
        if name.hasPrefix("source-"), name.count > 7 { name = String(name.dropFirst(7)) }
        return name.isEmpty ? "imported" : name
    }
}
