public import Secrets
public import SyncConfiguration

/// Turns a reference to a secret into the secret, before each exchange that needs it: what was replaced meanwhile is used at once, and a token may be
/// fetched first. Where secrets are kept is the daemon's business; the pipeline is handed this.
public struct SecretResolver: Sendable {
    private let read: @Sendable (SecretReference, SecretForm) async throws -> Secret

    /// A resolver that calls `read`, which refuses what has not the form.
    public init(_ read: @escaping @Sendable (SecretReference, SecretForm) async throws -> Secret) {
        self.read = read
    }

    /// A resolver that reads anew, each time, from where the reader looks.
    public init(_ reader: SecretReader) {
        self.init { try reader.secret($0, form: $1) }
    }

    /// A resolver for sources that need none: every reference fails.
    public static let none = SecretResolver { reference, _ in
        throw FetchError(.credential, detail: "\(reference) cannot be read here")
    }

    /// The secret.
    /// - Throws: `FetchError` of the class `credential` if there is none, or if it is empty; `CancellationError`.
    public func secret(_ reference: SecretReference, form: SecretForm = .line) async throws -> Secret {
        let secret: Secret
        do {
            secret = try await read(reference, form)
        } catch let error as FetchError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw FetchError(.credential, detail: "\(error)")
        }
        guard secret.count > 0 else { throw FetchError(.credential, detail: "\(reference) is empty") }
        return secret
    }
}
