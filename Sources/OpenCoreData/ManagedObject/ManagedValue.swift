import Foundation
import Synchronization

/// What an `@Managed` property may be: the attribute types, optional or not, and relationships.
public protocol ManagedValue {
    static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self
    func write(to object: NSManagedObject, at place: PropertyPlace)
}
