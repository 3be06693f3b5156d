import Foundation

/// Takes credentials out of everything that may be printed or stored.
public struct Redactor: Sendable, CustomStringConvertible, CustomReflectable {
    /// What stands in the place of a credential.
    public static let mask = "[redacted]"

    /// Longest first, so that a secret that contains another one goes as a whole.
    private let needles: [String]

    /// A redactor for these secrets, in all the forms they are sent in. Secrets of fewer than four characters are not looked for: that
    /// would garble every message without hiding anything.
    public init(secrets: [String] = []) {
        var forms: Set<String> = []
        for secret in secrets where secret.utf8.count >= 4 {
            forms.insert(secret)
            // As it comes back in a name of a host or a scheme.
            forms.insert(secret.lowercased())
            forms.insert(HTTPAddress.encode(secret))
            forms.insert(Data(secret.utf8).base64EncodedString())
            if let encoded = secret.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) { forms.insert(encoded) }
        }
        needles = forms.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// `text` without the secrets.
    public func redact(_ text: String) -> String {
        needles.reduce(text) { $0.replacingOccurrences(of: $1, with: Self.mask) }
    }

    /// Whether `text` holds one of the secrets.
    public func finds(in text: String) -> Bool {
        needles.contains { text.contains($0) }
    }

    /// The address as it may be printed: without the secrets, and without the values of parameters whose name says that they are one.
    public func redact(_ address: HTTPAddress) -> String {
        let text = address.url.absoluteString
        guard let question = text.firstIndex(of: "?") else { return redact(text) }
        let parts = text[text.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false).map { part -> String in
            let name = String(part.prefix { $0 != "=" })
            return Self.tellingNames.contains(name.lowercased()) && name.utf8.count < part.utf8.count ? "\(name)=\(Self.mask)" : String(part)
        }
        return redact(String(text[...question]) + parts.joined(separator: "&"))
    }

    private static let tellingNames: Set<String> = [
        "access_token", "api-key", "api_key", "apikey", "auth", "client_secret", "key", "passwd", "password", "secret", "sig", "signature",
        "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
    ]

    /// Nothing about the secrets.
    public var description: String { "Redactor" }

    /// Nothing, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
