import CoreData
import Foundation

// Of errors, and of Foundation: what is declared on Apple's platforms and not here, or otherwise. Each is named beside its statement and in
// COVERAGE.md; who adds one moves the statement to its class, and marks it with = instead of -.

#if canImport(ObjectiveC)

    // MARK: NSPredicate

    private func nsPredicateMissing(_ it: NSPredicate, _ predicate: Predicate<NSObject>) {
        let _: any NSSecureCoding = it  // - NSSecureCoding
        let _: (String, CVaListPointer) -> NSPredicate = NSPredicate.init(format:arguments:)  // - init(format:arguments:)
        let _: NSPredicate? = NSPredicate(predicate)  // - init(_:) of a Predicate
        let _: () -> Void = it.allowEvaluation  // - allowEvaluation()
    }

    // MARK: NSComparisonPredicate

    private func nsComparisonPredicateMissing() {
        // - init(leftExpression:rightExpression:customSelector:)
        let _: (NSExpression, NSExpression, Selector) -> NSComparisonPredicate = NSComparisonPredicate.init(
            leftExpression:rightExpression:customSelector:)
        let _: KeyPath<NSComparisonPredicate, Selector?> = \.customSelector  // - customSelector
    }

    // MARK: NSComparisonPredicate.Operator

    private func operatorOfNSComparisonPredicateMissing() {
        let _: NSComparisonPredicate.Operator = .customSelector  // - customSelector
    }

    // MARK: NSExpression

    private func nsExpressionMissing(_ it: NSExpression) {
        let _: any NSSecureCoding = it  // - NSSecureCoding
        let _: (String, CVaListPointer) -> NSExpression = NSExpression.init(format:arguments:)  // - init(format:arguments:)
        _ = NSExpression(forKeyPath: \NSString.length)  // - init(forKeyPath:) of a key path
        let _: () -> Void = it.allowEvaluation  // - allowEvaluation()
    }

    // MARK: NSSortDescriptor

    private func nsSortDescriptorMissing(_ it: NSSortDescriptor) {
        let _: any NSSecureCoding = it  // - NSSecureCoding
        _ = NSSortDescriptor(key: "name", ascending: true, selector: Optional<Selector>.none)  // - init(key:ascending:selector:)
        let _: KeyPath<NSSortDescriptor, Selector?> = \.selector  // - selector
        let _: () -> Void = it.allowEvaluation  // - allowEvaluation()
    }

    // MARK: UndoManager

    @MainActor
    private func undoManagerMissing(_ it: UndoManager) {
        // - registerUndo(withTarget:selector:object:)
        let _: @MainActor (Any, Selector, Any?) -> Void = it.registerUndo(withTarget:selector:object:)
        let _: @MainActor (Any) -> Any = it.prepare(withInvocationTarget:)  // - prepare(withInvocationTarget:)
    }

#endif
