import Foundation
import OpenCoreData

public class Person: NSManagedObject {
    @Managed public var name: String
    @Managed public var age: Int32
    @Managed public var nick: String?
    @Managed public var note: String?
    @Managed public var department: Department?
    @Managed public var manager: Person?
    @Managed public var reports: Set<Person>
    @Managed public var badge: NSManagedObject?
    @Managed public var skills: Set<NSManagedObject>
}
