extension PipelineState {
    /// All resources by scope, and in order what the machine asks for at every step: an input costs no more where there are many resources.
    struct Resources: Sendable {
        private var all: [ResourceScope: Resource] = [:]
        /// Those that have a due time.
        private(set) var due = Timeline()
        /// Those that are current, with the times when they are so no more.
        private(set) var current = Timeline()
        private(set) var running: Set<ResourceScope> = []
        /// Those that were set since `changes` was asked last.
        private var changed: Set<ResourceScope> = []

        var keys: Dictionary<ResourceScope, Resource>.Keys { all.keys }
        var values: Dictionary<ResourceScope, Resource>.Values { all.values }

        subscript(scope: ResourceScope) -> Resource? {
            get { all[scope] }
            set {
                all[scope] = newValue
                due.set(scope, newValue?.due)
                current.set(scope, newValue.flatMap(Self.end))
                if newValue?.run == nil { running.remove(scope) } else { running.insert(scope) }
                changed.insert(scope)
            }
        }

        /// Those that may stand otherwise than they did when this was asked last: what was set since, and what has grown too old by `now`.
        mutating func changes(at now: SyncInstant) -> [ResourceScope] {
            defer { changed = [] }
            return changed.union(current.until(now).map(\.scope)).sorted()
        }

        private static func end(of resource: Resource) -> SyncInstant? { resource.isPollable && !resource.isStale ? resource.staleTime : nil }

        /// What is wrong with the order, in words; nil: nothing.
        var violation: String? {
            for (scope, resource) in all {
                if due.times[scope] != resource.due { return "\(scope) has another due time" }
                if current.times[scope] != Self.end(of: resource) { return "\(scope) is current for another time" }
                if running.contains(scope) != (resource.run != nil) { return "\(scope) has another run" }
            }
            let count = due.times.count + current.times.count + running.count
            return due.isSorted && current.isSorted && Set(due.times.keys).union(current.times.keys).union(running).isSubset(of: all.keys)
                ? nil : "\(count) entries are out of order"
        }
    }

    /// Resources in the order of their times.
    struct Timeline: Sendable {
        struct Entry: Sendable, Comparable {
            let time: SyncInstant
            let scope: ResourceScope

            static func < (left: Self, right: Self) -> Bool { (left.time, left.scope) < (right.time, right.scope) }
        }

        private(set) var entries: [Entry] = []
        private(set) var times: [ResourceScope: SyncInstant] = [:]

        var isSorted: Bool { zip(entries, entries.dropFirst()).allSatisfy { $0 < $1 } && entries.count == times.count }

        mutating func set(_ scope: ResourceScope, _ time: SyncInstant?) {
            let old = times[scope]
            if old == time { return }
            if let old { entries.remove(at: index(of: Entry(time: old, scope: scope))) }
            times[scope] = time
            guard let time else { return }
            let entry = Entry(time: time, scope: scope)
            entries.insert(entry, at: index(of: entry))
        }

        /// Those with a time up to then.
        func until(_ time: SyncInstant) -> ArraySlice<Entry> { entries.prefix { $0.time <= time } }

        /// Where it is, or belongs.
        private func index(of entry: Entry) -> Int {
            var low = 0, high = entries.count
            while low < high {
                let middle = (low + high) / 2
                if entries[middle] < entry { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}

extension PipelineState.Resources: Sequence {
    func makeIterator() -> Dictionary<ResourceScope, PipelineState.Resource>.Iterator { all.makeIterator() }
}
