import CoreData
import Foundation

/// The object that drafts are about: one that is there, or one to be made.
final class ImportTarget {
    let entity: NSEntityDescription
    /// Nil until it is made.
    var object: NSManagedObject?
    /// What the drafts so far give to keys; nil: no value.
    var given: [String: KeyValue?] = [:]

    init(entity: NSEntityDescription, object: NSManagedObject? = nil) {
        self.entity = entity
        self.object = object
    }

    /// The key's value as it will be, after the drafts so far.
    func value(_ attribute: String) -> KeyValue? {
        if let given = given[attribute] { return given }
        return KeyValue(object?.value(forKey: attribute))
    }
}
