import Foundation
import OpenCoreData

/// An object that writes down which of its hooks were called, and lets a test run code in them.
public final class HookedObject: NSManagedObject {
    @Managed public var name: String?
    @Managed public var stamp: String?
    public private(set) var calls: [String] = []
    public var onWillSave: ((HookedObject) -> Void)?
    public var onDidSave: ((HookedObject) -> Void)?

    public override func awakeFromInsert() {
        calls.append("awakeFromInsert(\(name ?? "nil"))")
        if stamp == nil { stamp = "awake" }
    }

    public override func awakeFromFetch() {
        calls.append("awakeFromFetch")
        stamp = "fetched"
    }

    public override func prepareForDeletion() { calls.append("prepareForDeletion") }

    public override func willSave() {
        calls.append("willSave")
        onWillSave?(self)
    }

    public override func didSave() {
        calls.append("didSave")
        onDidSave?(self)
    }

    public func forgetCalls() { calls = [] }

    /// A model of this class alone: `name` with the default "new", and `stamp`.
    public static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Hooked", HookedObject.self)
        entity.properties = [Company.attribute("name", .string, default: "new"), Company.attribute("stamp", .string)]
        return NSManagedObjectModel(entities: [entity])
    }
}
