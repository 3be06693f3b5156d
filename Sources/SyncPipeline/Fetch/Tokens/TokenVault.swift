public import Secrets
import Synchronization

/// Where refresh tokens are kept that services have put in the place of others. The daemon decides what it is; a source is only as safe from being
/// locked out as this is durable.
///
/// An entry has the name of its ``RefreshChain``. What it holds is opaque to whoever keeps it.
public struct TokenVault: Sendable {
    let read: @Sendable (String) async throws -> Secret?
    let prepare: @Sendable (String) async throws -> Void
    let write: @Sendable (String, Secret) async throws -> Void

    /// - Parameters:
    ///   - read: the entry of a name; nil if there is none. Throws where that cannot be known.
    ///   - prepare: called before a token is sent that may be replaced: throws if what comes could not be written.
    ///   - write: puts an entry in the place of the one before, and returns when it would survive a loss of power.
    public init(
        read: @escaping @Sendable (String) async throws -> Secret?, prepare: @escaping @Sendable (String) async throws -> Void = { _ in },
        write: @escaping @Sendable (String, Secret) async throws -> Void
    ) {
        self.read = read
        self.prepare = prepare
        self.write = write
    }

    /// A vault that forgets with the process: for services that never replace a refresh token, and for tests.
    public static func inMemory() -> TokenVault {
        let entries = Entries()
        return TokenVault { name in
            entries.value.withLock { $0[name] }
        } write: { name, entry in
            entries.value.withLock { $0[name] = entry }
        }
    }

    /// A vault for those who must not use a refresh token up, since somebody else needs it: sending one fails with the reason.
    public static func refusing(_ reason: String) -> TokenVault {
        TokenVault { _ in
            nil
        } prepare: { _ in
            throw FetchError(.credential, detail: reason)
        } write: { _, _ in
            throw FetchError(.credential, detail: reason)
        }
    }

    private final class Entries: Sendable {
        let value = Mutex<[String: Secret]>([:])
    }
}
