public import SyncConfiguration

/// Turns a reference to a secret into the secret. Reading files, credentials and the environment is the daemon's business; the pipeline is
/// handed this.
public struct SecretResolver: Sendable {
    private let read: @Sendable (SecretReference) throws -> String

    /// A resolver that calls `read`.
    public init(_ read: @escaping @Sendable (SecretReference) throws -> String) {
        self.read = read
    }

    /// A resolver for sources that need none: every reference fails.
    public static let none = SecretResolver { reference in
        throw FetchError(.credential, detail: "\(reference) cannot be read here")
    }

    /// The secret, without the line break that ends a file.
    /// - Throws: `FetchError` of the class `credential` if there is none, or if it is empty.
    public func secret(_ reference: SecretReference) throws -> String {
        var secret: String
        do {
            secret = try read(reference)
        } catch let error as FetchError {
            throw error
        } catch {
            throw FetchError(.credential, detail: "\(reference): \(error)")
        }
        while let last = secret.unicodeScalars.last, last == "\n" || last == "\r" { secret.unicodeScalars.removeLast() }
        guard !secret.isEmpty else { throw FetchError(.credential, detail: "\(reference) is empty") }
        return secret
    }
}
