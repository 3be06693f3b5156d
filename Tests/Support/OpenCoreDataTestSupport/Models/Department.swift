import Foundation
import OpenCoreData

public final class Department: NSManagedObject {
    @Managed public var name: String
    @Managed public var code: String?
    @Managed public var budget: Double
    @Managed public var employees: Set<Person>
}
