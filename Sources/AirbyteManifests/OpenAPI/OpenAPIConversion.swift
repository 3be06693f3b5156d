import SyncConfiguration

/// The description of a service as a draft of a configuration.
///
/// A resource is made of each GET that answers a list of objects, an entity of their schema. What cannot be said, or is not said in the document, is left
/// out with the reason; nothing but the document is read. Each resource has been read by the reader of configurations before it is here.
package struct OpenAPIConversion: Sendable {
    /// A secret that the user has to provide.
    package struct Credential: Sendable, Hashable, Codable {
        /// What the configuration calls it.
        package var name: String
        /// What it holds.
        package var holds: String
    }

    /// Something of the document that is not in the draft.
    package struct LeftOut: Sendable, Hashable, Codable {
        /// The line of the document, counted from 1.
        package var line: Int
        /// What it is about: `GET /pets/{id}`.
        package var subject: String
        /// Why.
        package var reason: String
    }

    /// The draft; nil: nothing of the document can be said.
    package let toml: String?
    /// What the source is called.
    package let source: String
    /// The names of the resources, in the order of the draft.
    package let resources: [String]
    /// The names of the entities.
    package let entities: [String]
    /// By line.
    package let leftOut: [LeftOut]
    /// Those that the draft refers to.
    package let credentials: [Credential]

    /// Whether bytes look like a description of a service: OpenAPI 3 or Swagger 2, in JSON or YAML.
    package static func recognises(_ bytes: [UInt8]) -> Bool { OpenAPIDocument.isOne(bytes) }

    /// Drafts a configuration.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - file: its path or address, for messages.
    ///   - address: where it was fetched; addresses of servers that are relative follow it.
    ///   - accepts: what else is asked of a configuration; it answers with what is wrong.
    /// - Throws: ``ManifestError`` for a file that is no such document, or one that cannot be read.
    package init(
        document bytes: [UInt8], file: String, address: String? = nil, accepts: @escaping (CisternConfiguration) -> String? = { _ in nil }
    ) throws {
        let document = try OpenAPIDocument(bytes, file: file)
        let drafting = OpenAPIDrafting(document, file: file, address: address, check: SelfCheck(accepts: accepts))
        drafting.draft()
        source = drafting.source
        resources = drafting.resources.map(\.name)
        entities = drafting.usedEntities.map(\.name)
        leftOut = drafting.leftOut.sorted { ($0.line, $0.subject, $0.reason) < ($1.line, $1.subject, $1.reason) }
        credentials = drafting.usedCredentials
        guard !drafting.resources.isEmpty else {
            toml = nil
            return
        }
        let body = drafting.text(of: drafting.resources)
        if let problem = drafting.check.problem(body) {
            throw ManifestError(file: file, "its resources can be said one by one, but not together: \(problem)")
        }
        toml = Self.header(drafting, leftOut, credentials) + body
    }

    private static let mostLines = 200

    private static func header(_ drafting: OpenAPIDrafting, _ leftOut: [LeftOut], _ credentials: [Credential]) -> String {
        var lines = [
            "A draft, made of \(drafting.file) by cisternctl infer. A document says what a service should answer: read the draft, then let",
            "cisternctl check --online try each resource, before cisternd polls it.",
        ]
        if !credentials.isEmpty { lines += ["", "Credentials to provide:"] + credentials.map { "  \($0.name): \($0.holds)" } }
        if !leftOut.isEmpty {
            lines += ["", "Left out:"] + leftOut.prefix(mostLines).map { "  line \($0.line): \($0.subject): \($0.reason)" }
            if leftOut.count > mostLines { lines.append("  and \(leftOut.count - mostLines) more; cisternctl infer --json tells all") }
        }
        return lines.map { $0.isEmpty ? "#" : "# \(ConfigurationText.comment($0))" }.joined(separator: "\n") + "\n\n"
    }
}
