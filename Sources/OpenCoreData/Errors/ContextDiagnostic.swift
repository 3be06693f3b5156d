import Foundation
import Synchronization

/// Something that the library noticed, that is no error and that nobody asked about: a setting without effect, a main queue that was held too
/// long or that nobody serves. Whoever wants to know observes; without an observer nothing is put together and nothing is said.
public struct ContextDiagnostic: Sendable, CustomStringConvertible {
    /// What was noticed. New ones may come: a `switch` over them needs a `default`.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind as text, such as `"mainQueueHeld"`: what `description` begins with.
        public let rawValue: String
        /// A kind with this text. Those that the library reports are static members.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What sort of thing was noticed: what to filter and count by.
    public let kind: Kind
    /// What happened and what to do about it, in whole sentences.
    public let message: String
    /// The name of the context, queue or store that it is about; nil if it is about none.
    public let subject: String?
    /// How long it took, in seconds, where it is about time.
    public let seconds: TimeInterval?
    /// Where in the program it happened, innermost first, where that is known.
    public let stack: [String]

    package init(_ kind: Kind, _ message: String, subject: String? = nil, seconds: TimeInterval? = nil, stack: [String] = []) {
        self.kind = kind
        self.message = message
        self.subject = subject
        self.seconds = seconds
        self.stack = stack
    }

    /// One line for a log: the kind, a colon, and `message`.
    public var description: String { "\(kind.rawValue): \(message)" }

    // MARK: Observing

    /// Has `observer` called with everything that is noticed in this process, for as long as the answer is kept and not cancelled.
    ///
    /// It is called on the thread that noticed it, possibly a context's queue or the main queue, or on a queue of the library's: it must return at once
    /// and use no context.
    public static func observe(_ observer: @escaping @Sendable (ContextDiagnostic) -> Void) -> Observation {
        let observation = Observation()
        observers.withLock { $0[ObjectIdentifier(observation)] = observer }
        observersCount.add(1, ordering: .releasing)
        return observation
    }

    /// Ends an observation when it is cancelled or let go.
    public final class Observation: Sendable {
        fileprivate init() {}

        deinit { cancel() }

        /// Ends the observation. A report already under way on another thread may still call the observer. Calling it again does nothing.
        public func cancel() {
            let key = ObjectIdentifier(self)
            guard ContextDiagnostic.observers.withLock({ $0.removeValue(forKey: key) }) != nil else { return }
            ContextDiagnostic.observersCount.subtract(1, ordering: .releasing)
        }
    }

    private static let observers = Mutex<[ObjectIdentifier: @Sendable (ContextDiagnostic) -> Void]>([:])
    private static let observersCount = Atomic<Int>(0)

    /// Whether anybody listens: to be asked before anything is measured or put together for a diagnostic.
    package static var isObserved: Bool { observersCount.load(ordering: .relaxed) > 0 }

    /// Tells everybody who listens. No lock is held meanwhile.
    package static func report(_ diagnostic: @autoclosure () -> ContextDiagnostic) {
        guard isObserved else { return }
        let listeners = observers.withLock { Array($0.values) }
        guard !listeners.isEmpty else { return }
        let diagnostic = diagnostic()
        for listener in listeners { listener(diagnostic) }
    }
}

extension ContextDiagnostic.Kind {
    /// A merge policy was set on a context whose parent is a context: it is never asked there.
    public static let mergePolicyWithoutEffect = Self(rawValue: "mergePolicyWithoutEffect")
    /// The store could not be read where the interface has no way to say so; what was there before stays.
    public static let storeReadFailed = Self(rawValue: "storeReadFailed")
    /// Changes that other processes make to a store can't be followed.
    public static let remoteChangesUnwatched = Self(rawValue: "remoteChangesUnwatched")
    /// A block held the main queue for longer than its budget.
    public static let mainQueueHeld = Self(rawValue: "mainQueueHeld")
    /// Blocks for the main queue wait, and nobody runs them.
    public static let mainQueueNotDrained = Self(rawValue: "mainQueueNotDrained")
}
