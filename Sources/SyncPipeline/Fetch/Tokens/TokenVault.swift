public import Secrets
import Synchronization

/// Where refresh tokens are kept that services have put in the place of others. The daemon decides what it is; a source is only as safe from being
/// locked out as this is durable.
///
/// An entry has the name of its ``RefreshChain``. What it holds is opaque to whoever keeps it.
public struct TokenVault: Sendable {
    /// What keeps others from an entry.
    public struct Lock: Sendable {
        let release: @Sendable () -> Void

        /// - Parameter release: called once, when the entry is no longer used.
        public init(release: @escaping @Sendable () -> Void) {
            self.release = release
        }
    }

    let lock: @Sendable (String) async throws -> Lock?
    let place: @Sendable (String) -> String
    let read: @Sendable (String) async throws -> Secret?
    let prepare: @Sendable (String) async throws -> Void
    let write: @Sendable (String, Secret) async throws -> Void

    /// - Parameters:
    ///   - lock: keeps other processes from an entry, from before it is read until after it is written; nil: another one uses it just now.
    ///   - place: where an entry is, for people.
    ///   - read: the entry of a name; nil if there is none. Throws where that cannot be known.
    ///   - prepare: called before a token is sent that may be replaced: throws if what comes could not be written.
    ///   - write: puts an entry in the place of the one before, and returns when it would survive a loss of power.
    public init(
        lock: @escaping @Sendable (String) async throws -> Lock? = { _ in Lock {} }, place: @escaping @Sendable (String) -> String = { $0 },
        read: @escaping @Sendable (String) async throws -> Secret?, prepare: @escaping @Sendable (String) async throws -> Void = { _ in },
        write: @escaping @Sendable (String, Secret) async throws -> Void
    ) {
        self.lock = lock
        self.place = place
        self.read = read
        self.prepare = prepare
        self.write = write
    }

    /// A vault that forgets with the process: for services that never replace a refresh token, and for tests.
    public static func inMemory() -> TokenVault {
        let entries = Entries()
        return TokenVault(
            read: { name in entries.value.withLock { $0[name] } }, write: { name, entry in entries.value.withLock { $0[name] = entry } })
    }

    /// A vault for those who must not use a refresh token up, since somebody else needs it: sending one fails with the reason.
    public static func refusing(_ reason: String) -> TokenVault {
        TokenVault(
            read: { _ in nil }, prepare: { _ in throw FetchError(.credential, detail: reason) },
            write: { _, _ in throw FetchError(.credential, detail: reason) })
    }

    private final class Entries: Sendable {
        let value = Mutex<[String: Secret]>([:])
    }
}
