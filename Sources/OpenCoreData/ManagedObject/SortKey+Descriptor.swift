import Foundation

extension SortKey {
    /// What a descriptor asks of a fetch. Throws 134060 for what only memory can sort by.
    init(_ descriptor: NSSortDescriptor, of entity: NSEntityDescription) throws {
        if let keyPath = descriptor.managedKeyPath {
            let names = try KeyPathProbe.names(of: keyPath, from: entity)
            self.init(path: names, isAscending: descriptor.ascending)
        } else if let node = descriptor.node, let path = node.keyPath.keys {
            self.init(path: path, isAscending: node.ascending, selector: node.selector)
        } else {
            throw NSError.coreData(
                .coreData,
                "A fetch of \(entity.name ?? "?") can't sort by \(descriptor.key ?? "a descriptor made of code"): a store sorts by keys, not by "
                    + "comparators or operators. Use NSSortDescriptor(key:ascending:selector:), or sort the results.")
        }
    }
}
