/// Lets an initialiser in an extension of `NSSortDescriptor` return a subclass, which only initialisers in protocol extensions can.
public protocol SortKeyInitializable {}
