import CoreData

// What Foundation has on Apple's platforms for Core Data's sake, and lacks on Linux. Each statement uses one of Apple's declarations as it is
// spelled and typed; the comment behind or above it names it, and COVERAGE.md counts them.

// MARK: NSPredicate

private func nsPredicate(_ it: NSPredicate) {
    let _: any NSCopying = it  // = NSCopying
    _ = NSPredicate(format: "name == %@ AND age > %d", "Ada", 36)  // = init(format:_:)
    let _: (String, [Any]?) -> NSPredicate = NSPredicate.init(format:argumentArray:)  // = init(format:argumentArray:)
    let _: (Bool) -> NSPredicate = NSPredicate.init(value:)  // = init(value:)
    _ = NSPredicate { (_: Any?, _: [String: Any]?) -> Bool in true }  // = init(block:)
    let _: ([String: Any]) -> NSPredicate = it.withSubstitutionVariables(_:)  // = withSubstitutionVariables(_:)
    let _: (Any?) -> Bool = it.evaluate(with:)  // = evaluate(with:)
    let _: (Any?, [String: Any]?) -> Bool = it.evaluate(with:substitutionVariables:)  // = evaluate(with:substitutionVariables:)
}

@available(*, deprecated)
private func nsPredicateDeprecated() {
    let _: KeyPath<NSPredicate, String> = \.predicateFormat  // = predicateFormat
}

// MARK: NSCompoundPredicate

private func nsCompoundPredicate(_ it: NSCompoundPredicate) {
    // = init(type:subpredicates:)
    let _: (NSCompoundPredicate.LogicalType, [NSPredicate]) -> NSCompoundPredicate = NSCompoundPredicate.init(type:subpredicates:)
    // = init(andPredicateWithSubpredicates:)
    let _: ([NSPredicate]) -> NSCompoundPredicate = NSCompoundPredicate.init(andPredicateWithSubpredicates:)
    // = init(orPredicateWithSubpredicates:)
    let _: ([NSPredicate]) -> NSCompoundPredicate = NSCompoundPredicate.init(orPredicateWithSubpredicates:)
    // = init(notPredicateWithSubpredicate:)
    let _: (NSPredicate) -> NSCompoundPredicate = NSCompoundPredicate.init(notPredicateWithSubpredicate:)
    let _: KeyPath<NSCompoundPredicate, NSCompoundPredicate.LogicalType> = \.compoundPredicateType  // = compoundPredicateType
    let _: [Any] = it.subpredicates  // = subpredicates
    let _: NSCompoundPredicate.LogicalType = .not  // = LogicalType.not
    let _: NSCompoundPredicate.LogicalType = .and  // = LogicalType.and
    let _: NSCompoundPredicate.LogicalType = .or  // = LogicalType.or
}

// MARK: NSComparisonPredicate

private func nsComparisonPredicate() {
    // = init(leftExpression:rightExpression:modifier:type:options:)
    let _:
        (NSExpression, NSExpression, NSComparisonPredicate.Modifier, NSComparisonPredicate.Operator, NSComparisonPredicate.Options) ->
            NSComparisonPredicate = NSComparisonPredicate.init(leftExpression:rightExpression:modifier:type:options:)
    let _: KeyPath<NSComparisonPredicate, NSComparisonPredicate.Operator> = \.predicateOperatorType  // = predicateOperatorType
    let _: KeyPath<NSComparisonPredicate, NSComparisonPredicate.Modifier> = \.comparisonPredicateModifier  // = comparisonPredicateModifier
    let _: KeyPath<NSComparisonPredicate, NSExpression> = \.leftExpression  // = leftExpression
    let _: KeyPath<NSComparisonPredicate, NSExpression> = \.rightExpression  // = rightExpression
    let _: KeyPath<NSComparisonPredicate, NSComparisonPredicate.Options> = \.options  // = options
}

// MARK: NSComparisonPredicate.Options

private func optionsOfNSComparisonPredicate() {
    let _: NSComparisonPredicate.Options = .caseInsensitive  // = caseInsensitive
    let _: NSComparisonPredicate.Options = .diacriticInsensitive  // = diacriticInsensitive
    let _: NSComparisonPredicate.Options = .normalized  // = normalized
}

// MARK: NSComparisonPredicate.Modifier

private func modifierOfNSComparisonPredicate() {
    let _: NSComparisonPredicate.Modifier = .direct  // = direct
    let _: NSComparisonPredicate.Modifier = .all  // = all
    let _: NSComparisonPredicate.Modifier = .any  // = any
}

// MARK: NSComparisonPredicate.Operator

private func operatorOfNSComparisonPredicate() {
    let _: NSComparisonPredicate.Operator = .lessThan  // = lessThan
    let _: NSComparisonPredicate.Operator = .lessThanOrEqualTo  // = lessThanOrEqualTo
    let _: NSComparisonPredicate.Operator = .greaterThan  // = greaterThan
    let _: NSComparisonPredicate.Operator = .greaterThanOrEqualTo  // = greaterThanOrEqualTo
    let _: NSComparisonPredicate.Operator = .equalTo  // = equalTo
    let _: NSComparisonPredicate.Operator = .notEqualTo  // = notEqualTo
    let _: NSComparisonPredicate.Operator = .matches  // = matches
    let _: NSComparisonPredicate.Operator = .like  // = like
    let _: NSComparisonPredicate.Operator = .beginsWith  // = beginsWith
    let _: NSComparisonPredicate.Operator = .endsWith  // = endsWith
    let _: NSComparisonPredicate.Operator = .in  // = in
    let _: NSComparisonPredicate.Operator = .contains  // = contains
    let _: NSComparisonPredicate.Operator = .between  // = between
}

// MARK: NSExpression

private func nsExpression(_ it: NSExpression) {
    _ = NSExpression(format: "age + %d", 1)  // = init(format:_:)
    let _: (String, [Any]) -> NSExpression = NSExpression.init(format:argumentArray:)  // = init(format:argumentArray:)
    let _: (Any?) -> NSExpression = NSExpression.init(forConstantValue:)  // = init(forConstantValue:)
    let _: () -> NSExpression = NSExpression.expressionForEvaluatedObject  // = expressionForEvaluatedObject()
    let _: (String) -> NSExpression = NSExpression.init(forVariable:)  // = init(forVariable:)
    let _: (String) -> NSExpression = NSExpression.init(forKeyPath:)  // = init(forKeyPath:)
    let _: (String, [Any]) -> NSExpression = NSExpression.init(forFunction:arguments:)  // = init(forFunction:arguments:)
    let _: ([Any]) -> NSExpression = NSExpression.init(forAggregate:)  // = init(forAggregate:)
    let _: (NSExpression, NSExpression) -> NSExpression = NSExpression.init(forUnionSet:with:)  // = init(forUnionSet:with:)
    let _: (NSExpression, NSExpression) -> NSExpression = NSExpression.init(forIntersectSet:with:)  // = init(forIntersectSet:with:)
    let _: (NSExpression, NSExpression) -> NSExpression = NSExpression.init(forMinusSet:with:)  // = init(forMinusSet:with:)
    // = init(forSubquery:usingIteratorVariable:predicate:)
    let _: (NSExpression, String, NSPredicate) -> NSExpression = NSExpression.init(forSubquery:usingIteratorVariable:predicate:)
    // = init(forFunction:selectorName:arguments:)
    let _: (NSExpression, String, [Any]?) -> NSExpression = NSExpression.init(forFunction:selectorName:arguments:)
    let _: () -> NSExpression = NSExpression.expressionForAnyKey  // = expressionForAnyKey()
    _ = NSExpression(block: { (_: Any?, _: [Any], _: NSMutableDictionary?) -> Any in 1 }, arguments: nil)  // = init(block:arguments:)
    // = init(forConditional:trueExpression:falseExpression:)
    let _: (NSPredicate, NSExpression, NSExpression) -> NSExpression = NSExpression.init(forConditional:trueExpression:falseExpression:)
    let _: KeyPath<NSExpression, NSExpression.ExpressionType> = \.expressionType  // = expressionType
    let _: KeyPath<NSExpression, Any?> = \.constantValue  // = constantValue
    let _: KeyPath<NSExpression, String> = \.keyPath  // = keyPath
    let _: KeyPath<NSExpression, String> = \.function  // = function
    let _: KeyPath<NSExpression, String> = \.variable  // = variable
    let _: KeyPath<NSExpression, NSExpression> = \.operand  // = operand
    let _: KeyPath<NSExpression, [NSExpression]?> = \.arguments  // = arguments
    let _: KeyPath<NSExpression, Any> = \.collection  // = collection
    let _: KeyPath<NSExpression, NSPredicate> = \.predicate  // = predicate
    let _: KeyPath<NSExpression, NSExpression> = \.left  // = left
    let _: KeyPath<NSExpression, NSExpression> = \.right  // = right
    let _: KeyPath<NSExpression, NSExpression> = \.true  // = true
    let _: KeyPath<NSExpression, NSExpression> = \.false  // = false
    let _: (Any?, NSMutableDictionary?) -> Any? = it.expressionValue(with:context:)  // = expressionValue(with:context:)
    let _: any NSCopying = it  // = NSCopying
    let _: (NSExpression.ExpressionType) -> NSExpression = NSExpression.init(expressionType:)  // = init(expressionType:)
    let _: KeyPath<NSExpression, (Any?, [Any], NSMutableDictionary?) -> Any> = \.expressionBlock  // = expressionBlock
}

// MARK: NSExpression.ExpressionType

private func expressionTypeOfNSExpression() {
    let _: NSExpression.ExpressionType = .constantValue  // = constantValue
    let _: NSExpression.ExpressionType = .evaluatedObject  // = evaluatedObject
    let _: NSExpression.ExpressionType = .variable  // = variable
    let _: NSExpression.ExpressionType = .keyPath  // = keyPath
    let _: NSExpression.ExpressionType = .function  // = function
    let _: NSExpression.ExpressionType = .unionSet  // = unionSet
    let _: NSExpression.ExpressionType = .intersectSet  // = intersectSet
    let _: NSExpression.ExpressionType = .minusSet  // = minusSet
    let _: NSExpression.ExpressionType = .subquery  // = subquery
    let _: NSExpression.ExpressionType = .aggregate  // = aggregate
    let _: NSExpression.ExpressionType = .anyKey  // = anyKey
    let _: NSExpression.ExpressionType = .block  // = block
    let _: NSExpression.ExpressionType = .conditional  // = conditional
}

// MARK: NSSortDescriptor

private func nsSortDescriptor(_ it: NSSortDescriptor) {
    let _: any NSCopying = it  // = NSCopying
    let _: (String?, Bool) -> NSSortDescriptor = NSSortDescriptor.init(key:ascending:)  // = init(key:ascending:)
    // = init(key:ascending:comparator:)
    _ = NSSortDescriptor(key: "name", ascending: true) { (_: Any, _: Any) -> ComparisonResult in .orderedSame }
    _ = NSSortDescriptor(keyPath: \NSString.length, ascending: true)  // = init(keyPath:ascending:)
    // = init(keyPath:ascending:comparator:)
    _ = NSSortDescriptor(keyPath: \NSString.length, ascending: true) { (_: Any, _: Any) -> ComparisonResult in .orderedSame }
    _ = NSSortDescriptor(SortDescriptor(\NSString.length))  // = init(_:) of a SortDescriptor
    let _: KeyPath<NSSortDescriptor, String?> = \.key  // = key
    let _: KeyPath<NSSortDescriptor, Bool> = \.ascending  // = ascending
    let _: KeyPath<NSSortDescriptor, Comparator> = \.comparator  // = comparator
    let _: AnyKeyPath? = it.keyPath  // = keyPath
    let _: (Any, Any) -> ComparisonResult = it.compare(_:to:)  // = compare(_:to:)
    let _: KeyPath<NSSortDescriptor, Any> = \.reversedSortDescriptor  // = reversedSortDescriptor
}

// MARK: ValueTransformer

private func valueTransformer(_ it: ValueTransformer) {
    // = setValueTransformer(_:forName:)
    let _: (ValueTransformer?, NSValueTransformerName) -> Void = ValueTransformer.setValueTransformer(_:forName:)
    let _: (NSValueTransformerName) -> ValueTransformer? = ValueTransformer.init(forName:)  // = init(forName:)
    let _: () -> ValueTransformer = ValueTransformer.init  // = init()
    let _: () -> [NSValueTransformerName] = ValueTransformer.valueTransformerNames  // = valueTransformerNames()
    let _: () -> AnyClass = ValueTransformer.transformedValueClass  // = transformedValueClass()
    let _: () -> Bool = ValueTransformer.allowsReverseTransformation  // = allowsReverseTransformation()
    let _: (Any?) -> Any? = it.transformedValue(_:)  // = transformedValue(_:)
    let _: (Any?) -> Any? = it.reverseTransformedValue(_:)  // = reverseTransformedValue(_:)
    let _: ValueTransformer.Type = NSSecureUnarchiveFromDataTransformer.self  // = NSSecureUnarchiveFromDataTransformer
    let _: [AnyClass] = NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses  // = allowedTopLevelClasses
}

// MARK: ValueTransformer

// It has no state of its own.
private class OwnValueTransformer: ValueTransformer, @unchecked Sendable {
    override class func transformedValueClass() -> AnyClass { NSString.self }  // = transformedValueClass(), overridden
    override class func allowsReverseTransformation() -> Bool { true }  // = allowsReverseTransformation(), overridden
    override func transformedValue(_ value: Any?) -> Any? { value }  // = transformedValue(_:), overridden
    override func reverseTransformedValue(_ value: Any?) -> Any? { value }  // = reverseTransformedValue(_:), overridden
}

// MARK: NSSecureUnarchiveFromDataTransformer

// It has no state of its own.
private class OwnNSSecureUnarchiveFromDataTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
    // = allowedTopLevelClasses, overridden
    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [NSString.self] }
}

// MARK: NSValueTransformerName

private func nsValueTransformerName() {
    let _: (String) -> NSValueTransformerName = NSValueTransformerName.init(rawValue:)  // = init(rawValue:)
    let _: (String) -> NSValueTransformerName = NSValueTransformerName.init(_:)  // = init(_:)
    let _: NSValueTransformerName = .negateBooleanTransformerName  // = negateBooleanTransformerName
    let _: NSValueTransformerName = .isNilTransformerName  // = isNilTransformerName
    let _: NSValueTransformerName = .isNotNilTransformerName  // = isNotNilTransformerName
    let _: NSValueTransformerName = .secureUnarchiveFromDataTransformerName  // = secureUnarchiveFromDataTransformerName
}

@available(*, deprecated)
private func nsValueTransformerNameDeprecated() {
    let _: NSValueTransformerName = .unarchiveFromDataTransformerName  // = unarchiveFromDataTransformerName
    let _: NSValueTransformerName = .keyedUnarchiveFromDataTransformerName  // = keyedUnarchiveFromDataTransformerName
}

// MARK: UndoManager

@MainActor
private func undoManager(_ it: UndoManager, _ target: NSObject) {
    let _: () -> UndoManager = UndoManager.init  // = init()
    let _: @MainActor () -> Void = it.beginUndoGrouping  // = beginUndoGrouping()
    let _: @MainActor () -> Void = it.endUndoGrouping  // = endUndoGrouping()
    let _: KeyPath<UndoManager, Int> = \.groupingLevel  // = groupingLevel
    let _: @MainActor () -> Void = it.disableUndoRegistration  // = disableUndoRegistration()
    let _: @MainActor () -> Void = it.enableUndoRegistration  // = enableUndoRegistration()
    let _: KeyPath<UndoManager, Bool> = \.isUndoRegistrationEnabled  // = isUndoRegistrationEnabled
    let _: ReferenceWritableKeyPath<UndoManager, Bool> = \.groupsByEvent  // = groupsByEvent
    let _: ReferenceWritableKeyPath<UndoManager, Int> = \.levelsOfUndo  // = levelsOfUndo
    let _: @MainActor () -> Void = it.undo  // = undo()
    let _: @MainActor () -> Void = it.redo  // = redo()
    let _: @MainActor () -> Void = it.undoNestedGroup  // = undoNestedGroup()
    let _: KeyPath<UndoManager, Bool> = \.canUndo  // = canUndo
    let _: KeyPath<UndoManager, Bool> = \.canRedo  // = canRedo
    let _: KeyPath<UndoManager, Int> = \.undoCount  // = undoCount
    let _: KeyPath<UndoManager, Int> = \.redoCount  // = redoCount
    let _: KeyPath<UndoManager, Bool> = \.isUndoing  // = isUndoing
    let _: KeyPath<UndoManager, Bool> = \.isRedoing  // = isRedoing
    let _: @MainActor () -> Void = it.removeAllActions  // = removeAllActions()
    let _: @MainActor (Any) -> Void = it.removeAllActions(withTarget:)  // = removeAllActions(withTarget:)
    it.registerUndo(withTarget: target) { (_: NSObject) in }  // = registerUndo(withTarget:handler:)
    let _: @MainActor (Bool) -> Void = it.setActionIsDiscardable(_:)  // = setActionIsDiscardable(_:)
    let _: KeyPath<UndoManager, Bool> = \.undoActionIsDiscardable  // = undoActionIsDiscardable
    let _: KeyPath<UndoManager, Bool> = \.redoActionIsDiscardable  // = redoActionIsDiscardable
    let _: KeyPath<UndoManager, String> = \.undoActionName  // = undoActionName
    let _: KeyPath<UndoManager, String> = \.redoActionName  // = redoActionName
    let _: @MainActor (String) -> Void = it.setActionName(_:)  // = setActionName(_:)
    let _: KeyPath<UndoManager, String> = \.undoMenuItemTitle  // = undoMenuItemTitle
    let _: KeyPath<UndoManager, String> = \.redoMenuItemTitle  // = redoMenuItemTitle
    let _: @MainActor (String) -> String = it.undoMenuTitle(forUndoActionName:)  // = undoMenuTitle(forUndoActionName:)
    let _: @MainActor (String) -> String = it.redoMenuTitle(forUndoActionName:)  // = redoMenuTitle(forUndoActionName:)
    let _: String = NSUndoManagerGroupIsDiscardableKey  // = NSUndoManagerGroupIsDiscardableKey
    let _: Notification.Name = .NSUndoManagerCheckpoint  // = NSUndoManagerCheckpoint
    let _: Notification.Name = .NSUndoManagerWillUndoChange  // = NSUndoManagerWillUndoChange
    let _: Notification.Name = .NSUndoManagerDidUndoChange  // = NSUndoManagerDidUndoChange
    let _: Notification.Name = .NSUndoManagerWillRedoChange  // = NSUndoManagerWillRedoChange
    let _: Notification.Name = .NSUndoManagerDidRedoChange  // = NSUndoManagerDidRedoChange
    let _: Notification.Name = .NSUndoManagerDidOpenUndoGroup  // = NSUndoManagerDidOpenUndoGroup
    let _: Notification.Name = .NSUndoManagerWillCloseUndoGroup  // = NSUndoManagerWillCloseUndoGroup
    let _: Notification.Name = .NSUndoManagerDidCloseUndoGroup  // = NSUndoManagerDidCloseUndoGroup
    let _: ReferenceWritableKeyPath<UndoManager, [RunLoop.Mode]> = \.runLoopModes  // = runLoopModes
    it.setActionUserInfoValue(1, forKey: UndoManager.UserInfoKey(rawValue: "key"))  // = setActionUserInfoValue(_:forKey:)
    let _: Any? = it.undoActionUserInfoValue(forKey: UndoManager.UserInfoKey(rawValue: "key"))  // = undoActionUserInfoValue(forKey:)
    let _: Any? = it.redoActionUserInfoValue(forKey: UndoManager.UserInfoKey(rawValue: "key"))  // = redoActionUserInfoValue(forKey:)
}
