/// Lets an initialiser in an extension of `NSPredicate` return a subclass, which only initialisers in protocol extensions can.
public protocol PredicateFormatInitializable {}
