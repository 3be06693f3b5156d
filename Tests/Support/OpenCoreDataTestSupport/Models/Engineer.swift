import Foundation
import OpenCoreData

public final class Engineer: Person {
    @Managed public var language: String?
}
