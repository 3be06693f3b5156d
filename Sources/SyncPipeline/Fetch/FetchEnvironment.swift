public import Foundation

/// What a fetch works with: the same for all pages of a run.
public struct FetchEnvironment: Sendable {
    /// Limits, rules and credentials of the resource.
    public let settings: FetchSettings
    /// What makes the requests.
    public let transport: any HTTPTransport
    /// Time.
    public let clock: any SyncClock
    /// Chance, for jitter.
    public let random: RandomSource
    /// The limit on requests at the same time, shared by all fetches of a daemon; nil for none.
    public let slots: RequestSlots?
    /// The cookies of the run; nil for none.
    public let cookies: RunCookies?
    /// Is told what happens. Called on no particular thread.
    public let observe: @Sendable (FetchEvent) -> Void
    /// Until when the server wants to be left alone, whichever fetch it told so; nil if it may be asked. Asked before every attempt, when it has its
    /// slot.
    public let notBefore: @Sendable () -> Date?
    /// Is told that a server asked for a wait, and awaited before anybody else gets the slot: what must survive the process is stored then.
    public let willWait: @Sendable (Date) async -> Void

    /// An environment for one run.
    public init(
        settings: FetchSettings, transport: any HTTPTransport, clock: any SyncClock, random: RandomSource = .system,
        slots: RequestSlots? = nil, cookies: RunCookies? = RunCookies(), observe: @escaping @Sendable (FetchEvent) -> Void = { _ in },
        notBefore: @escaping @Sendable () -> Date? = { nil }, willWait: @escaping @Sendable (Date) async -> Void = { _ in }
    ) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        self.random = random
        self.slots = slots
        self.cookies = cookies
        self.observe = observe
        self.notBefore = notBefore
        self.willWait = willWait
    }
}
