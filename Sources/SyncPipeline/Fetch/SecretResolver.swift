public import SyncConfiguration

/// Turns a reference to a secret into the secret. Reading files, credentials and the environment is the daemon's business; the pipeline is
/// handed this.
public struct SecretResolver: Sendable {
    /// What a secret must look like.
    public enum Form: Sendable {
        /// One line of printable text: what ends up in a header.
        case line
        /// Text of several lines, such as certificates.
        case lines
    }

    private let read: @Sendable (SecretReference, Form) throws -> String

    /// A resolver that calls `read`, which refuses what has not the form.
    public init(_ read: @escaping @Sendable (SecretReference, Form) throws -> String) {
        self.read = read
    }

    /// A resolver for sources that need none: every reference fails.
    public static let none = SecretResolver { reference, _ in
        throw FetchError(.credential, detail: "\(reference) cannot be read here")
    }

    /// The secret, without the line break that ends a file.
    /// - Throws: `FetchError` of the class `credential` if there is none, or if it is empty.
    public func secret(_ reference: SecretReference, form: Form = .line) throws -> String {
        var secret: String
        do {
            secret = try read(reference, form)
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
