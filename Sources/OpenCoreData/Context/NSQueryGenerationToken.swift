import Foundation

/// Names a state of a coordinator's stores, or the state at the next read: what a context can be pinned to (see
/// `NSManagedObjectContext.setQueryGenerationFrom(_:)`).
///
/// A token keeps its state: as long as one is held, SQLite keeps everything in its log that was committed since. An archived one does not, and
/// names its state in the process that made it only, while somebody else there still holds it.
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, Sendable {
    private enum Content: Sendable {
        case current
        case generation(QueryGeneration)
        /// Nobody holds it any more.
        case gone(UUID)
    }

    private let content: Content

    /// The newest state when a context that is set to it reads for the first time.
    public static let current = NSQueryGenerationToken(.current)

    private init(_ content: Content) { self.content = content }

    convenience init(_ generation: QueryGeneration) { self.init(.generation(generation)) }

    var isCurrent: Bool {
        if case .current = content { true } else { false }
    }

    /// The state; nil for `current`, and if it is gone.
    var generation: QueryGeneration? {
        if case .generation(let generation) = content { generation } else { nil }
    }

    private var uuid: UUID? {
        switch content {
        case .current: nil
        case .generation(let generation): generation.uuid
        case .gone(let uuid): uuid
        }
    }

    /// Whether both name the same state.
    public override func isEqual(_ object: Any?) -> Bool { (object as? NSQueryGenerationToken).map { $0.uuid == uuid } ?? false }

    public override var hash: Int { uuid.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Archiving

    private static let key = "generation"

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) { coder.encode(uuid.map { NSString(string: $0.uuidString) }, forKey: Self.key) }

    /// Fails if what is archived is no token.
    public convenience init?(coder: NSCoder) {
        guard coder.containsValue(forKey: Self.key), let name = coder.decodeObject(of: NSString.self, forKey: Self.key) else {
            self.init(.current)
            return
        }
        guard let uuid = UUID(uuidString: "\(name)") else { return nil }
        self.init(QueryGeneration.named(uuid).map { .generation($0) } ?? .gone(uuid))
    }
}
