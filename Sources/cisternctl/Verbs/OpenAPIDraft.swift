import AirbyteManifests
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `infer` with the description of a service: what it becomes, and what does not.
struct OpenAPIDraft {
    /// As large as an answer may be by default.
    static let mostBytes = 16 << 20

    private let conversion: OpenAPIConversion
    private let file: String

    /// - Parameter address: where the document was fetched, or comes from.
    /// - Throws: `ControlError` with status 65 for what cannot be read.
    init(_ bytes: [UInt8], file: String, address: String?) throws {
        self.file = file
        do {
            conversion = try OpenAPIConversion(
                document: bytes, file: file, address: address,
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

    private struct Report: Encodable {
        var source: String
        var resources: [String]
        var entities: [String]
        var credentials: [OpenAPIConversion.Credential]
        var leftOut: [OpenAPIConversion.LeftOut]
        var toml: String?
    }

    /// Writes the draft where the verb says, and tells beside it what was left out.
    func write(_ verb: InferVerb, _ surroundings: Surroundings) throws -> ControlExitCode {
        let console = surroundings.console
        if let toml = conversion.toml, let output = verb.output { try verb.write(toml, to: output) }
        if verb.options.json {
            let report = Report(
                source: conversion.source, resources: conversion.resources, entities: conversion.entities, credentials: conversion.credentials,
                leftOut: conversion.leftOut, toml: conversion.toml)
            try console.json(report, pretty: true)
        } else {
            for entry in conversion.leftOut { console.error("\(file):\(entry.line): left out: \(entry.subject): \(entry.reason)") }
            for credential in conversion.credentials { console.error("Provide the credential \(credential.name): \(credential.holds)") }
            let count = conversion.resources.count
            console.error("\(count) \(count == 1 ? "resource" : "resources") drafted, \(conversion.leftOut.count) left out")
            if verb.output == nil, let toml = conversion.toml { console.block(toml) }
        }
        return conversion.toml == nil ? .dataError : .success
    }
}
