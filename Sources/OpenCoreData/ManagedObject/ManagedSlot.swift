import Foundation

/// One value on its way between a row and a property.
public struct ManagedSlot {
    let value: AttributeValue
    let object: NSManagedObject?

    init(_ value: AttributeValue, object: NSManagedObject? = nil) {
        self.value = value
        self.object = object
    }
}
