import Crypto
import Secrets
import Synchronization

/// The refresh tokens that a service puts one in the place of the other, from the configured one on (RFC 6749, 6). At most one of them is being used.
///
/// A new one is stored before the access token that came with it is used: after that the service may forget the one before. A chain is known by a
/// digest of the configured token that it begins with: one which is configured anew begins another chain, and nothing else that is written otherwise does,
/// so that no stored token is left behind by a change of the configuration, and whoever uses the same token uses the same chain.
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

    /// The digest of the token that it begins with.
    private let root: String
    private let vault: TokenVault
    private let clock: any SyncClock
    private let last = Mutex<Task<Void, Never>?>(nil)
    /// What could not be stored yet.
    private let unsaved = Mutex<Entry?>(nil)

    /// The chain of a token with this digest.
    init(root: String, vault: TokenVault, clock: any SyncClock) {
        self.root = root
        self.vault = vault
        self.clock = clock
    }

    /// What its entry is called: the digest says nothing of the token, and half of it is enough to tell tokens apart.
    private var name: String { String(root.prefix(32)) }

    /// Asks for a token with the newest refresh token, when all who asked before have ended.
    ///
    /// - Parameters:
    ///   - read: reads the configured token, when its turn has come: it may have been replaced while others asked.
    ///   - ask: sends the request with that refresh token.
    /// - Returns: nil if another token is configured by now: that is the beginning of another chain.
    /// - Throws: `FetchError` of the class `credential` where the vault does not do what it must or the answer holds no token, and what `read` and `ask`
    ///   throw. A refresh token that came is stored, whatever is thrown, or is kept until it can be.
    func renew(
        _ read: @escaping @Sendable () async throws -> Secret, _ ask: @escaping @Sendable (Secret) async throws -> TokenAnswer
    ) async throws -> Renewal? {
        try await turn { [self] () async throws -> Renewal? in
            let configured = try await read()
            guard Self.digest(of: configured) == root else { return nil }
            return try await locked { [self] () async throws -> Renewal in
                // One that could not be stored is the newest there is.
                if let entry = unsaved.withLock({ $0 }) { try await save(entry) }
                let stored = try await storedEntry(), used = stored?.root == root ? stored?.token ?? configured : configured
                try await tried("no refresh token is used, since a new one could not be stored") { try await self.vault.prepare(self.name) }
                let answer = try await ask(used)
                var tokens = [configured, used], isRotated = false
                if let next = answer.refreshToken, !next.isEqual(to: used) {
                    try await save(Entry(root: root, token: next))
                    tokens.append(next)
                    isRotated = true
                }
                // Only now: whatever else is wrong with the answer, the service may know no other refresh token any more.
                _ = try answer.token.get()
                return Renewal(answer: answer, tokens: tokens, isRotated: isRotated)
            }
        }
    }

    /// Whether a token is in memory only.
    var hasUnsaved: Bool { unsaved.withLock { $0 != nil } }

    /// Stores what could not be stored before.
    /// - Throws: `FetchError`, if it cannot be stored now either.
    func flush() async throws {
        guard hasUnsaved else { return }
        try await turn { [self] in
            try await locked { [self] in
                if let entry = unsaved.withLock({ $0 }) { try await save(entry) }
            }
        }
    }

    /// How long another process is waited for that uses the same entry.
    private static let patience = Duration.seconds(30)

    /// Runs `body` while no other process uses the entry.
    private func locked<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let end = clock.instant.advanced(by: Self.patience)
        while true {
            let lock = try await tried("the refresh token cannot be locked") { try await self.vault.lock(self.name) }
            if let lock {
                defer { lock.release() }
                return try await body()
            }
            guard clock.instant < end else {
                throw FetchError(
                    .credential, detail: "another process uses the same refresh token at \(vault.place(name)); give each daemon one of its own")
            }
            try await clock.sleep(for: .seconds(1))
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
                .credential, detail: "the stored refresh token \(vault.place(name)) is damaged; remove it, and configure a new refresh token")
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
