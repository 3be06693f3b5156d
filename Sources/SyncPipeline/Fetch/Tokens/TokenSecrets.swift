import Foundation
import Secrets
import SyncConfiguration

/// Reads the secrets that a token, or the request for one, is made of.
struct TokenSecrets {
    /// One that is sent, and that a server may send back.
    let sent: (SecretReference) async throws -> Secret
    /// A key, which stays here.
    let key: (SecretReference, SecretForm) async throws -> Secret

    /// A text, wherever it is written.
    func text(_ text: SecretText) async throws -> Secret {
        switch text {
        case .text(let text): Secret(Array(text.utf8))
        case .secret(let reference): try await sent(reference)
        }
    }
}

extension SecretWriter {
    /// A JSON value with its secrets.
    mutating func append(_ json: SecretJSON, _ secrets: TokenSecrets) async throws {
        switch json {
        case .text(let text): append(jsonText: try await secrets.text(text))
        case .number(let digits): append(digits)
        case .bool(let flag): append("\(flag)")
        case .array(let values):
            append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { append(",") }
                try await append(value, secrets)
            }
            append("]")
        case .object(let members):
            append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { append(",") }
                try await append(member, secrets)
            }
            append("}")
        }
    }

    /// A member of an object.
    mutating func append(_ member: SecretJSON.Member, _ secrets: TokenSecrets) async throws {
        append(jsonText: Secret(Array(member.name.utf8)))
        append(":")
        try await append(member.value, secrets)
    }
}
