import Foundation

/// How far somebody knows the history of one or several stores. To be kept between runs: by an archiver, or by any encoder.
// Immutable.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Codable, @unchecked Sendable {
    /// The number of the last transaction that is known, by the store's UUID.
    package let positions: [String: Int64]

    package init(_ positions: [String: Int64]) {
        self.positions = positions
        super.init()
    }

    // MARK: Values

    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Tokens are equal when they name the same transactions.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.positions == positions }
    open override var hash: Int { positions.hashValue }

    open override var description: String {
        let parts = positions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<NSPersistentHistoryToken: \(parts.joined(separator: ", "))>"
    }

    // MARK: Coding

    private static let codingKey = "positions"

    open class var supportsSecureCoding: Bool { true }

    open func encode(with coder: NSCoder) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let data = try? encoder.encode(positions) else { Violation.misuse("\(self) can't be encoded") }
        coder.encode(NSData(data: data), forKey: Self.codingKey)
    }

    /// Nil if it was not a token that was encoded.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.codingKey),
            let positions = try? PropertyListDecoder().decode([String: Int64].self, from: Data(referencing: data))
        else { return nil }
        self.positions = positions
        super.init()
    }

    public required init(from decoder: any Decoder) throws {
        positions = try decoder.singleValueContainer().decode([String: Int64].self)
        super.init()
    }

    open func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(positions)
    }
}
