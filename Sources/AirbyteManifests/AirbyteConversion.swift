import SyncConfiguration

/// A manifest of a declarative Airbyte connector as a configuration.
///
/// Never half done: a stream with something that would change its data or its requests if it were dropped is left out whole, and named. What only
/// makes requests less polite, or more of them, is carried over with a remark. Each resource has been read by the reader of configurations before it
/// is here.
package struct AirbyteConversion: Sendable {
    /// A secret that the user has to provide.
    package struct Credential: Sendable, Hashable, Codable {
        /// What the configuration calls it.
        package var name: String
        /// The field of the connector's configuration that held it; empty: the manifest writes it out.
        package var field: String
        /// What it holds, in the manifest's words.
        package var holds: String
    }

    /// A field of the connector's configuration whose value stands in the configuration now.
    package struct Value: Sendable, Hashable, Codable {
        /// Where a value comes from.
        package enum Source: String, Sendable, Hashable, Codable {
            /// The user has set it.
            case set
            /// The manifest says it where the user says nothing.
            case manifest
            /// Nobody has said it: something stands there so that the place can be found.
            case placeholder
        }

        /// Names divided by dots.
        package var field: String
        /// As a text.
        package var value: String
        /// Where it comes from.
        package var source: Source
        /// What the manifest calls the field.
        package var title: String
    }

    /// The configuration; nil: no stream could be converted.
    package let toml: String?
    /// The names of its sources.
    package let sources: [String]
    /// The streams that are in it, as the manifest calls them.
    package let streams: [String]
    /// What was left out, and what is otherwise than in the manifest, by line.
    package let findings: [AirbyteFinding]
    /// The secrets that it refers to.
    package let credentials: [Credential]
    /// The values that were put into it.
    package let values: [Value]

    /// Whether something of the manifest is not in the configuration.
    package var isPartial: Bool { findings.contains(where: \.isLeftOut) }

    /// Converts a manifest.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - file: its path, for messages.
    ///   - name: what the source is to be called.
    ///   - settings: what the user would have filled in, by the names of fields, those of inner ones divided by dots.
    ///   - accepts: what else is asked of a configuration; it answers with what is wrong.
    /// - Throws: ``ManifestError`` for a file that is no manifest, or one that cannot be read.
    package init(
        manifest bytes: [UInt8], file: String, name: String, settings: [String: String] = [:],
        accepts: @escaping (CisternConfiguration) -> String? = { _ in nil }
    ) throws {
        var reader = ManifestReader(file: file)
        let manifest = Manifest(file: file, root: try Self.root(try reader.read(bytes), file: file))
        let given = try ConnectorSettings(manifest, given: settings)
        try Self.check(given, file: file)
        let source = Names.resource(name), check = SelfCheck(accepts: accepts)
        let conversion = ManifestConversion(manifest, settings: given, source: source, check: check)
        try conversion.convert()

        let text = ConfigurationText(source: source, drafts: conversion.drafts)
        streams = conversion.drafts.filter { !$0.isOnlyParent }.map(\.stream)
        findings = conversion.findings.sorted { ($0.line, $0.key, $0.reason) < ($1.line, $1.key, $1.reason) }
        // Secrets of streams that were left out are nobody's business.
        let body = conversion.drafts.isEmpty ? "" : text.text
        credentials = conversion.credentials.filter { body.contains("\"\($0.name)\"") }
        values = given.uses.map(Value.init)
        sources = conversion.drafts.isEmpty ? [] : text.sources
        guard !conversion.drafts.isEmpty else {
            toml = nil
            return
        }
        if let problem = check.problem(body) { throw ManifestError(file: file, "its streams can be said one by one, but not together: \(problem)") }
        toml = ConfigurationHeader(file: file, findings: findings, credentials: credentials, values: values).text + body
    }

    private static func root(_ value: ManifestValue, file: String) throws -> ManifestMapping {
        guard let root = value.mapping else { throw ManifestError(file: file, line: value.line, "it is no manifest: a mapping was expected") }
        if let type = root["type"]?.text, type != "DeclarativeSource" {
            throw ManifestError(file: file, line: root.line(of: "type"), "it is no manifest of a declarative source: its type is \(type)")
        }
        guard root["streams"] != nil || root["dynamic_streams"] != nil else {
            throw ManifestError(file: file, "it is no manifest of a declarative source: it has no streams")
        }
        return root
    }

    private static func check(_ settings: ConnectorSettings, file: String) throws {
        if let secret = settings.givenSecrets.first {
            throw ManifestError(file: file, "\(secret) is a secret, which no configuration contains: provide it as a credential")
        }
        if let stranger = settings.strangers.first { throw ManifestError(file: file, "its connection_specification has no field \(stranger)") }
    }
}

extension AirbyteConversion.Value {
    fileprivate init(_ use: ConnectorSettings.Use) {
        let source: Source =
            switch use.source {
            case .set: .set
            case .manifest: .manifest
            case .placeholder: .placeholder
            }
        self.init(field: use.field, value: use.value, source: source, title: use.title)
    }
}
