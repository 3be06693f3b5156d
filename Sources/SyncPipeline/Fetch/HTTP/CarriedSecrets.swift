import Secrets
import Synchronization

/// The secrets that requests carry: a server may repeat what it was sent in the addresses that it gives, in the query or elsewhere, and these are stored.
final class CarriedSecrets: Sendable {
    private struct Entry {
        let name: String
        let secret: Secret
    }

    /// A value of so many bytes is the secret, whatever it is called; a shorter one may be the same by chance.
    private static let shortestValue = 8
    /// So many bytes are in no text by chance.
    private static let shortestPart = 16

    private let all = Mutex<[Entry]>([])

    /// From now on it is looked for.
    /// - Parameter name: what requests call it.
    func learn(_ secret: Secret, as name: String) {
        all.withLock { all in
            if !all.contains(where: { $0.name == name && $0.secret.isEqual(to: secret) }) { all.append(Entry(name: name, secret: secret)) }
        }
    }

    /// Whether a text is one of them, or holds one.
    /// - Parameter name: what it is called.
    func areIn(_ text: String, named name: String = "") -> Bool {
        let text = Array(text.utf8)
        return all.withLock { $0 }.contains { entry in
            let count = entry.secret.count
            guard count > 0, count <= text.count else { return false }
            guard count == text.count else { return count >= Self.shortestPart && Self.holds(text, entry.secret) }
            return (count >= Self.shortestValue || entry.name == name) && Self.holds(text, entry.secret)
        }
    }

    private static func holds(_ text: [UInt8], _ secret: Secret) -> Bool {
        secret.withUnsafeBytes { bytes in
            (0...(text.count - bytes.count)).contains { start in text[start..<start + bytes.count].elementsEqual(bytes) }
        }
    }
}
