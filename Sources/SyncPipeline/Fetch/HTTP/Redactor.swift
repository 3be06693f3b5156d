import Foundation
import Secrets
import Synchronization

/// Removes credentials from everything that may be printed or stored.
///
/// It learns each one when it is read, and keeps it for as long as it lives itself, which is one run: a server may echo one that has since been
/// replaced.
public final class Redactor: Sendable, CustomStringConvertible, CustomReflectable {
    /// What replaces a credential.
    public static let mask = "[redacted]"

    /// Shorter secrets are not looked for: that would garble every message without hiding anything.
    private static let shortest = 4

    /// Every secret in all the forms it is sent in. Longest first, so that a secret that contains another one goes as a whole.
    private let needles = Mutex<[Secret]>([])

    /// A redactor for these secrets. Secrets of fewer than four characters are not looked for.
    public init(secrets: [String] = []) {
        for secret in secrets { learn(Secret(Array(secret.utf8))) }
    }

    /// Removes this secret, too, from now on.
    func learn(_ secret: Secret) {
        guard secret.count >= Self.shortest else { return }
        needles.withLock { needles in
            guard !needles.contains(where: { $0.isEqual(to: secret) }) else { return }
            let forms =
                [
                    secret, secret.lowercased(), secret.percentEncoded(keeping: "-._~"), secret.percentEncoded(keeping: "!$&'()*+,-./:;=?@_~"),
                    secret.base64(),
                ] + secret.jsonEscapedForms
            for form in forms where !needles.contains(where: { $0.isEqual(to: form) }) { needles.append(form) }
            needles.sort { $0.count > $1.count }
        }
    }

    /// `text` without the secrets.
    public func redact(_ text: String) -> String {
        let needles = needles.withLock { $0 }
        guard !needles.isEmpty else { return text }
        var bytes = Array(text.utf8), isFound = false
        for needle in needles {
            while let place = Self.place(of: needle, in: bytes) {
                isFound = true
                bytes.replaceSubrange(place, with: [Self.placeholder])
            }
        }
        guard isFound else { return text }
        // Until here a byte that never occurs in UTF-8 marked the mask, so that no secret is found inside a mask.
        return bytes.split(separator: Self.placeholder, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
            .joined(separator: Self.mask)
    }

    /// Whether `text` holds one of the secrets.
    public func finds(in text: String) -> Bool {
        let bytes = Array(text.utf8)
        return needles.withLock { $0 }.contains { Self.place(of: $0, in: bytes) != nil }
    }

    private static let placeholder: UInt8 = 0xFF

    private static func place(of needle: Secret, in bytes: [UInt8]) -> Range<Int>? {
        guard bytes.count >= needle.count else { return nil }
        return needle.withUnsafeBytes { needle in
            for start in 0...(bytes.count - needle.count) where bytes[start] == needle[0] {
                if bytes[start..<start + needle.count].elementsEqual(needle) { return start..<start + needle.count }
            }
            return nil
        }
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

extension FetchError {
    /// The error without the secrets, in whichever part of it a server sent one back.
    func redacted(by redactor: Redactor) -> FetchError {
        var error = self
        error.detail = redactor.redact(detail)
        error.contentType = contentType.map(redactor.redact)
        error.excerpt = redactor.redact(excerpt)
        if case .refused(let refusal) = kind { error.kind = .refused(refusal.redacted(by: redactor)) }
        return error
    }
}

extension Refusal {
    fileprivate func redacted(by redactor: Redactor) -> Refusal {
        switch self {
        case .malformedAddress(let why): .malformedAddress(redactor.redact(why))
        case .scheme(let scheme): .scheme(redactor.redact(scheme))
        case .privateAddress(let address): .privateAddress(redactor.redact(address))
        case .contentEncoding(let encoding): .contentEncoding(redactor.redact(encoding))
        case .otherOrigin(let origin): .otherOrigin(origin.redacted(by: redactor))
        case .contentForOtherOrigin(let origin): .contentForOtherOrigin(origin.redacted(by: redactor))
        case .emptyAddress, .userInformation, .downgrade, .redirectNotAllowed, .nextLinksNotAllowed, .missingLocation, .tooManyRedirects,
            .redirectOfPOST, .redirectLoop, .credentialLeak, .credentialInAddress, .unexpectedStatus:
            self
        }
    }
}

extension Origin {
    fileprivate func redacted(by redactor: Redactor) -> Origin {
        Origin(scheme: redactor.redact(scheme), host: redactor.redact(host), port: port)
    }
}
