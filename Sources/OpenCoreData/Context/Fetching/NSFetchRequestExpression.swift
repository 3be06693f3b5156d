import Foundation

/// The kind of an `NSFetchRequestExpression`.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest

/// An expression whose value is what a request finds: `parent IN` the results of another fetch, a count to compare with.
///
/// Evaluated in memory it fetches for each object that is asked. A fetch with such an expression carries it out once, before the store is asked, and
/// goes on with what it found; so the store may be of any kind, and the request of another context or another file. An asynchronous fetch carries it out
/// before it returns, and a results controller as it fetches. What is found can be compared; it has no keys: fetch dictionaries, or the other way about.
// Unchecked: it has no properties of its own.
public final class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
    /// An expression that executes a request.
    ///
    /// - Parameters:
    ///   - fetch: its value is an `NSFetchRequest`.
    ///   - context: its value is the `NSManagedObjectContext` to fetch in. It is used on its own queue, whoever evaluates the expression: what is found is
    ///     known there by its ID alone, where that is another queue.
    ///   - countOnly: whether the value is how many there are, instead of an array of them in the kind of results that the request says.
    /// - Returns: an `NSFetchRequestExpression`. Where it can't fetch, evaluating throws `PredicateEvaluationError.failedFetch`, and fetching what the fetch
    ///   within says.
    public static func expression(forFetch fetch: NSExpression, context: NSExpression, countOnly: Bool) -> NSExpression {
        let message = ExpressionNode.message(
            .constant(.opaque(OpaqueValue(FetchAnswer.shared))), FetchAnswer.selector, [fetch.node, context.node, .constant(.bool(countOnly))])
        return NSExpression.make(message.limited)
    }

    /// What the request is the value of.
    public var requestExpression: NSExpression { part(0) }
    /// What the context is the value of.
    public var contextExpression: NSExpression { part(1) }
    /// Whether the value is a count.
    public var isCountOnlyRequest: Bool { part(2).node == .constant(.bool(true)) }

    private func part(_ place: Int) -> NSExpression { NSExpression.make(node.fetch?.arguments[place] ?? .constant(.null)) }
}

/// Carries out expressions that fetch.
final class FetchAnswer: PredicateFetching {
    static let shared = FetchAnswer()
    static let selector = "fetch:context:countOnly:"

    func expression(of node: ExpressionNode) -> NSExpression { NSFetchRequestExpression(node) }

    func answer(to selector: String, _ arguments: [Any?]) throws(PredicateEvaluationError) -> Any? {
        do { return try found(arguments) } catch { throw .failedFetch(error.localizedDescription) }
    }

    /// - Throws: what the fetch says, and 134060 where there is no request or no context.
    func found(_ arguments: [Any?]) throws -> Any {
        guard let request = arguments[0] as? any ExpressedRequest, let context = arguments[1] as? NSManagedObjectContext else {
            throw NSError.coreData(
                .coreData,
                "An expression that fetches is given an NSFetchRequest and an NSManagedObjectContext as constants or variables, not "
                    + "\(Self.words(arguments[0])) and \(Self.words(arguments[1])).")
        }
        let isCount = arguments[2] as? Bool ?? false
        // One without a queue is used where the caller is.
        if context.concurrencyType == .confinementConcurrencyType || context.queue.isCurrent {
            return try request.found(in: context, isCount: isCount)
        }
        let pending = Unchecked(value: request)
        return try context.performAndWait {
            let found = try pending.value.found(in: context, isCount: isCount)
            return Unchecked(value: (found as? [NSManagedObject])?.map(\.objectID) ?? found)
        }.value
    }

    private static func words(_ value: Any?) -> String { value.map { "\(type(of: $0))" } ?? "nil" }
}

/// A fetch request of whatever results.
private protocol ExpressedRequest {
    func found(in context: NSManagedObjectContext, isCount: Bool) throws -> Any
}

extension NSFetchRequest: ExpressedRequest {
    fileprivate func found(in context: NSManagedObjectContext, isCount: Bool) throws -> Any {
        isCount ? try context.count(for: self) : try context.fetch(self)
    }
}
