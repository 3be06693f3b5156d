import CoreData
import Foundation

/// A record as it was read: what an object is recognised by, and what it gets. Nothing is found or made yet.
final class Draft {
    /// By what an object is recognised.
    struct Key {
        let attribute: String
        let value: KeyValue
        /// The same value as an attribute has it.
        let plain: Any

        /// Nil where there is no value to be found by.
        init?(_ attribute: String, _ value: Any?) {
            guard let value, let compared = KeyValue(value) else { return nil }
            self.attribute = attribute
            self.value = compared
            plain = value
        }
    }

    /// What a relationship gets.
    enum Link {
        case nobody
        case one(Draft)
        case many([Draft])
    }

    let entity: NSEntityDescription
    let place: InputPlace
    /// Nil: the object is new, whatever there is.
    let key: Key?
    /// Of a record; nil where one object is only referred to.
    let record: [String: Any]?
    var values: [(attribute: NSAttributeDescription, value: Any?)] = []
    var links: [(relationship: NSRelationshipDescription, link: Link)] = []
    /// Which object it is, once that is known.
    var target: ImportTarget?

    init(entity: NSEntityDescription, place: InputPlace, key: Key?, record: [String: Any]?) {
        self.entity = entity
        self.place = place
        self.key = key
        self.record = record
    }
}
