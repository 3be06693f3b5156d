import Foundation

/// New rows of one entity on their way into a context, a block of them at a time: for importers that make a great many. On the context's queue.
///
/// An importer writes rows into `builder` and inserts them together, without knowing whether they are new. Where that is not certain, nothing is
/// inserted, and they have to be looked up one by one. For entities with `comesInBlocks`.
package final class RowImport {
    package let builder: RowBlockBuilder
    private let context: NSManagedObjectContext
    private let set: SlotSet
    /// Made anew when the context has let go of it, since what was inserted by then can be found, or never will be.
    private var claim = KeyClaim()
    private static let fewRows = 256
    private var entity: NSEntityDescription { builder.layout.entity }
    private var constraint: UniquenessConstraint { builder.layout.constraints[0] }

    /// - Parameters:
    ///   - builder: where the rows are written; it may hold some already.
    ///   - set: the slots that are set on purpose, in every row; the others hold defaults.
    package init(_ builder: RowBlockBuilder, into context: NSManagedObjectContext, set: SlotSet) {
        self.context = context
        self.set = set
        self.builder = builder
    }

    /// Makes the rows new objects of the context, not saved yet, if none of their unique keys is another's, in any level from here to the store.
    ///
    /// - Parameter targets: the objects of to-ones, by number. Those that are new are inserted by whoever calls this, before anybody saves.
    /// - Returns: their primary keys, in the order of the rows; nil if one of them may be there already: then the rows are still in the builder. Throws
    ///   what reading throws.
    package func insert(targets: [NSManagedObjectID] = []) throws -> Range<Int64>? {
        context.checkQueue()
        precondition(builder.largestTarget < targets.count, "a row names an object that was not handed in")
        let hashes = builder.hashes, reservations = context.root.keyReservations
        guard !hashes.isEmpty, let coordinator = context.endOfChain, !context.chain.hasBeenPinned else { return nil }
        let reserved = context.reserved(in: reservations)
        if !reserved.holds(claim) {
            claim = KeyClaim()
            reserved.add(claim, at: constraint)
        }
        // First announced, then looked up: who asks for one of the keys from now on is noticed when the block is added.
        guard reservations.announce(hashes, by: claim, at: constraint) else { return nil }
        var isAdded = false
        defer { if !isAdded { claim.keys.withdraw(hashes) } }
        guard try areMissing(hashes, in: coordinator), let (keys, store) = coordinator.makeKeys(hashes.count, for: entity) else { return nil }
        let spill = coordinator.blockSpill
        let block = builder.block(firstKey: keys.lowerBound, store: store, set: set, uniqueKeys: claim.keys, targets: targets, in: spill)
        isAdded = reservations.add(block, hashes, to: claim, in: spill)
        guard isAdded else { return nil }
        builder.removeAll()
        context.hasImportedRows = true
        context.chain.withLock { context.level.insert(block) }
        return keys
    }

    private func areMissing(_ hashes: [UInt64], in coordinator: NSPersistentStoreCoordinator) throws -> Bool {
        context.publish()
        let areHere = context.chain.withLock {
            sequence(first: context, next: \.parent).contains { context in
                [context.level.pending, context.level.saving].contains { $0.map { mayHold(hashes, $0) } ?? false }
            }
        }
        if areHere { return false }
        // No list is made of many keys while there is no row at all.
        if builder.count > Self.fewRows {
            var plan = FetchPlan(entity: entity)
            plan.limit = 1
            plan.includesRows = false
            if try coordinator.fetch(plan).isEmpty { return true }
        }
        let keys = (0..<builder.count).compactMap { constraint.key(of: builder.row($0)) }
        return try coordinator.objects(of: entity, constraint: constraint.number, keys: keys).isEmpty
    }

    /// Whether one of the keys may be that of an unsaved row, but for those in blocks of this importer.
    private func mayHold(_ hashes: [UInt64], _ changes: ChangeSet) -> Bool {
        guard let part = changes.entities[entity.number] else { return false }
        guard let others = part.looseHashes(besides: hashes.count) else { return true }
        if !others.isEmpty, !Set(hashes).isDisjoint(with: others) { return true }
        var seen = [ObjectIdentifier(claim.keys)] as Set
        return part.blocks.contains { block in
            seen.insert(ObjectIdentifier(block.uniqueKeys)).inserted && block.uniqueKeys.contains(anyOf: hashes)
        }
    }
}

extension NSEntityDescription {
    /// Whether new objects may be inserted in blocks: nobody but the model has a say about their values.
    package var comesInBlocks: Bool { layout.isBlockable && !validatesItself }
}
