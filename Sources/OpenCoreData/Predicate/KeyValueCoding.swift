/// An object whose values are reached by name.
///
/// On Apple's platforms this is a part of `NSObject`. Here predicates and sort descriptors read objects that conform, dictionaries
/// with string keys (`[String: Any]`, `NSDictionary`), and, element by element, arrays and sets of either.
public protocol KeyValueCoding {
    /// The value of a property: nil, a value, another object that conforms, or a collection of such.
    func value(forKey key: String) -> Any?
}

/// The same without the detour over `Any`: asked first where an object offers both.
package protocol PredicateValueProviding {
    func predicateValue(forKey key: String) -> PredicateValue
}

/// A collection that hands out its elements without the detour over `Any`.
package protocol PredicateCollectionProviding {
    var predicateCollection: PredicateCollection { get }
}
