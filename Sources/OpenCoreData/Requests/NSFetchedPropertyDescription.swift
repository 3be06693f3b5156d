import Foundation

/// A property whose value is what a fetch finds: an array of objects, evaluated when it is first asked for and kept until the object is
/// refreshed. In the predicate `$FETCH_SOURCE` is the object that is asked and `$FETCHED_PROPERTY` this description.
/// Changing it traps once a coordinator uses the model.
// Mutable only until the model is frozen, as its superclass says; the request is never handed out afterwards, only copies of it.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    private var storedRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// What is fetched. It must name an entity of the model. Once the model is in use, every reader gets a copy.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get { isInUse ? storedRequest?.duplicate() : storedRequest }
        set {
            checkEditable()
            storedRequest = newValue
        }
    }

    public override init() { super.init() }

    /// A fetched property in one line.
    public convenience init(name: String, fetchRequest: NSFetchRequest<any NSFetchRequestResult>) {
        self.init()
        self.name = name
        self.fetchRequest = fetchRequest
    }

    override func duplicate() -> NSPropertyDescription {
        let copy = filled(NSFetchedPropertyDescription())
        copy.storedRequest = storedRequest?.duplicate()
        return copy
    }

    private var isInUse: Bool { entity?.isFrozen ?? false }

    /// From now on nobody outside has the request.
    override func freeze() { storedRequest = storedRequest?.duplicate() }

    override func complaint(in entities: [NSEntityDescription]) -> String? {
        guard let storedRequest else { return "has no fetch request" }
        guard let name = storedRequest.entityName else { return "fetches from no entity" }
        if !entities.contains(where: { $0.name == name }) { return "fetches from \(name), which is not in the model" }
        if storedRequest.resultType != .managedObjectResultType { return "must fetch objects" }
        return nil
    }

    override var isStored: Bool { false }

    override var hashLines: [String] {
        var lines = ["fetched=\(storedRequest?.entityName ?? "")"]
        if let predicate = storedRequest?.predicate { lines.append("predicate=\(predicate.canonicalFormat)") }
        for descriptor in storedRequest?.sortDescriptors ?? [] {
            guard let node = descriptor.node else { continue }
            lines.append("sort=\(node.keyPath) \(node.ascending ? "up" : "down") \(node.selector)")
        }
        if let request = storedRequest, request.fetchLimit > 0 || request.fetchOffset > 0 {
            lines.append("window=\(request.fetchOffset) \(request.fetchLimit)")
        }
        return lines
    }
}

/// What a predicate may ask of `$FETCHED_PROPERTY`.
extension NSFetchedPropertyDescription: KeyValueCoding {
    /// The value of `name`, `userInfo` (its string keys only), `isOptional`, `optional`, `renamingIdentifier` or `versionHashModifier`. Traps for
    /// any other key.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "userInfo": Dictionary((userInfo ?? [:]).compactMap { key, value in (key as? String).map { ($0, value) } }) { _, last in last }
        case "isOptional", "optional": isOptional
        case "renamingIdentifier": renamingIdentifier
        case "versionHashModifier": versionHashModifier
        default: Violation.unknownKey(key, entity: "NSFetchedPropertyDescription")
        }
    }
}
