import Crypto
import Secrets
import Synchronization

/// The refresh tokens that a service puts one in the place of the other, from the configured one on (RFC 6749, 6). At most one of them is being used.
///
/// A new one is stored before the access token that came with it is used: after that the service may forget the one before. It is kept with a
/// digest of the configured token that the chain begins with, so that a token which is configured anew begins another chain. What a chain is named
/// after is in ``TokenRequest/chainName``.
final class RefreshChain: Sendable {
    /// A token, and the digest of what the chain begins with.
    struct Entry: Sendable {
        let root: String
        let token: Secret
    }

    /// What a use of the chain brought.
    struct Renewal: Sendable {
        let answer: TokenAnswer
        /// The refresh tokens that took part.
        let tokens: [Secret]
        let isRotated: Bool
    }

    private let name: String
    private let vault: TokenVault
    private let last = Mutex<Task<Void, Never>?>(nil)
    /// What could not be stored yet.
    private let unsaved = Mutex<Entry?>(nil)

    init(name: String, vault: TokenVault) {
        self.name = name
        self.vault = vault
    }

    /// Asks for a token with the newest refresh token, when all who asked before have ended.
    ///
    /// - Parameters:
    ///   - configured: the token that the chain begins with.
    ///   - ask: sends the request with that refresh token.
    /// - Throws: `FetchError` of the class `credential` where the vault does not do what it must, and what `ask` throws.
    func renew(
        from configured: Secret, _ ask: @escaping @Sendable (Secret) async throws -> TokenAnswer
    ) async throws -> Renewal {
        try await turn { [self] in
            let root = Self.digest(of: configured)
            // One that could not be stored is the newest there is.
            if let entry = unsaved.withLock({ $0 }) {
                if entry.root == root { try await save(entry) } else { unsaved.withLock { $0 = nil } }
            }
            let stored = try await storedEntry(), used = stored?.root == root ? stored?.token ?? configured : configured
            try await tried("no refresh token is used, since a new one could not be stored") { try await self.vault.prepare(self.name) }
            let answer = try await ask(used)
            guard let next = answer.refreshToken, !next.isEqual(to: used) else {
                return Renewal(answer: answer, tokens: [configured, used], isRotated: false)
            }
            try await save(Entry(root: root, token: next))
            return Renewal(answer: answer, tokens: [configured, used, next], isRotated: true)
        }
    }

    private func save(_ entry: Entry) async throws {
        unsaved.withLock { $0 = entry }
        try await tried("a new refresh token came, and cannot be stored; it is kept in memory until it can, and no token is used before") {
            try await self.vault.write(self.name, entry.encoded)
        }
        unsaved.withLock { $0 = nil }
    }

    private func storedEntry() async throws -> Entry? {
        let stored = try await tried("the stored refresh token cannot be read") { try await self.vault.read(self.name) }
        guard let stored else { return nil }
        guard let entry = Entry(stored) else {
            throw FetchError(
                .credential, detail: "the stored refresh token \(name) is damaged; remove it, and configure a new refresh token")
        }
        return entry
    }

    private func tried<Value: Sendable>(_ what: String, _ body: @Sendable () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as FetchError { throw error } catch {
            throw FetchError(.credential, detail: "\(what): \(error.inWords)")
        }
    }

    /// Runs `body` when all that came before has ended. A cancelled task cancels it.
    private func turn<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = last.withLock { last in
            let previous = last
            let task = Task {
                await previous?.value
                try Task.checkCancellation()
                return try await body()
            }
            last = Task { _ = await task.result }
            return task
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// SHA-256 of a secret, in hexadecimal.
    static func digest(of secret: Secret) -> String {
        var hash = SHA256()
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension RefreshChain.Entry {
    private static let mark = Array("cistern-refresh-token 1\n".utf8)
    private static let digestLength = 64

    /// A first line that says what it is, the digest, and the token.
    var encoded: Secret {
        let head = Self.mark + Array("\(root)\n".utf8), length = head.count + token.count
        return Secret(capacity: length) { buffer in
            buffer.copyBytes(from: head)
            token.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[head.count...]).copyBytes(from: $0) }
            return length
        }
    }

    /// Nil: it is none.
    init?(_ secret: Secret) {
        let start = Self.mark.count + Self.digestLength + 1
        guard secret.count > start else { return nil }
        let parts: (root: String, token: Secret)? = secret.withUnsafeBytes { bytes in
            guard bytes.starts(with: Self.mark), bytes[start - 1] == UInt8(ascii: "\n") else { return nil }
            return (String(decoding: bytes[Self.mark.count..<start - 1], as: UTF8.self), Secret(bytes[start...]))
        }
        guard let parts else { return nil }
        self.init(root: parts.root, token: parts.token)
    }
}
