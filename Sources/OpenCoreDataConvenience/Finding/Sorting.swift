import CoreData
import Foundation

/// By what objects are sorted, and in which direction. A string literal is a key path, ascending: `sortedBy: ["name", .descending("age")]`.
public struct Sorting: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The key path of the values that are compared.
    public let key: String
    /// Whether the smallest comes first.
    public let isAscending: Bool

    /// Smallest first, by the value at a key path.
    public static func ascending(_ key: String) -> Sorting { Sorting(key: key, isAscending: true) }
    /// Largest first, by the value at a key path.
    public static func descending(_ key: String) -> Sorting { Sorting(key: key, isAscending: false) }

    /// Smallest first, by the value at this key path.
    public init(stringLiteral key: String) { self.init(key: key, isAscending: true) }

    private init(key: String, isAscending: Bool) {
        self.key = key
        self.isAscending = isAscending
    }

    var descriptor: NSSortDescriptor { NSSortDescriptor(key: key, ascending: isAscending) }
}
