import Foundation
import OpenCoreData

/// An object with keys and an identity, as managed objects have.
final class KeyedPerson: KeyValueCoding, PredicateIdentity {
    struct ID: Hashable, Sendable, PredicateIdentity {
        let number: Int
        var predicateIdentity: any Hashable & Sendable { self }
    }

    let id: ID
    var values: [String: Any]

    init(_ number: Int, _ values: [String: Any] = [:]) {
        id = ID(number: number)
        self.values = values
    }

    var predicateIdentity: any Hashable & Sendable { id }

    func value(forKey key: String) -> Any? {
        values[key]
    }
}

/// Whether the text, with the arguments, holds for the object.
func holds(_ format: String, _ object: Any?, _ arguments: Any?...) throws -> Bool {
    try NSPredicate.parse(format, arguments: arguments).evaluate(with: object)
}

/// The tree of a text.
func node(_ format: String, _ arguments: Any?...) throws -> PredicateNode {
    try NSPredicate.parse(format, arguments: arguments).node
}

/// Repeatable randomness.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
