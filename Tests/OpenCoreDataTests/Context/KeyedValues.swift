import Foundation
import OpenCoreData

/// What the values of everything with a unique key should be: a model of upserts through levels, in which objects go by number.
///
/// A level has the new objects that were made there or pushed into it, and the values that were set on others; a to-one is a value like others, and the
/// tags of things are pairs that were added or removed. Where two objects turn out to have one key, the merge policy says what becomes of the values of
/// the one that came later; its tags go over whatever the policy.
struct KeyedValues {
    typealias Values = [String: Int]

    private struct Pair: Hashable {
        let thing: Int
        let tag: Int
    }

    private struct Level {
        var made: [Int: Values] = [:]
        var set: [Int: Values] = [:]
        /// Whether a pair was added, or removed.
        var pairs: [Pair: Bool] = [:]

        func has(_ number: Int) -> Bool { made[number] != nil || set[number] != nil }

        mutating func overlay(_ number: Int, _ values: Values) {
            if made[number] != nil {
                made[number]?.merge(values) { $1 }
            } else {
                set[number, default: [:]].merge(values) { $1 }
            }
        }
    }

    private let policy: NSMergePolicyType
    private var levels: [Level]
    private(set) var stored: [Int: Values] = [:]
    private var storedPairs: Set<Pair> = []
    private var keys: [Int: String] = [:]
    private var became: [Int: Int] = [:]

    private func defaults(_ number: Int) -> Values { Keyed.defaults(ofKey: keys[number] ?? "?") }

    init(levels: Int, policy: NSMergePolicyType) {
        self.levels = Array(repeating: Level(), count: levels)
        self.policy = policy
    }

    private func now(_ number: Int) -> Int {
        var result = number
        while let next = became[result] { result = next }
        return result
    }

    mutating func make(_ number: Int, key: String, _ values: Values, at level: Int) {
        keys[number] = key
        levels[level].made[number] = values
    }

    /// A box was made: it has no unique key.
    mutating func makeBox(_ number: Int) { keys[number] = Keyed.name(ofBox: number) }

    mutating func set(_ number: Int, _ values: Values, at level: Int) { levels[level].overlay(now(number), values) }

    mutating func tag(_ thing: Int, with tag: Int, _ isAdded: Bool, at level: Int) {
        levels[level].pairs[Pair(thing: now(thing), tag: now(tag))] = isAdded
    }

    /// Of a pair that was added to one and removed from another that turned out to be one with it, the addition counts.
    private func current(_ pairs: [Pair: Bool]) -> [Pair: Bool] {
        Dictionary(pairs.map { (Pair(thing: now($0.thing), tag: now($0.tag)), $1) }, uniquingKeysWith: { $0 || $1 })
    }

    /// Somebody else made a row.
    mutating func store(_ number: Int, key: String, _ values: Values) {
        keys[number] = key
        stored[number] = defaults(number).merging(values) { $1 }
    }

    func number(storedAs key: String) -> Int? { stored.keys.first { keys[$0] == key } }

    /// What an object that met its key says of the one that has it; nil: nothing.
    private func brought(_ number: Int, _ values: Values) -> Values? {
        switch policy {
        case .mergeByPropertyObjectTrumpMergePolicyType: values
        case .overwriteMergePolicyType: defaults(number).merging(values) { $1 }
        default: nil
        }
    }

    mutating func push(from level: Int, to parent: Int, searching parents: [Int]) {
        var pushed = levels[level]
        levels[level] = Level()
        unify(&pushed)
        for (number, values) in pushed.set { levels[parent].overlay(now(number), values) }
        for (number, values) in pushed.made.sorted(by: { $0.key < $1.key }) {
            let beside = pushed.set.keys.map(now).filter { keys[$0] == keys[number] }.min()
            if let owner = beside ?? owner(of: keys[number], in: parents) {
                if let brought = brought(number, values) { levels[parent].overlay(owner, brought) }
                rename(number, owner)
            } else {
                levels[parent].made[number] = values
            }
        }
        let pairs = current(pushed.pairs)
        levels[parent].pairs.merge(pairs) { $1 }
        // Whose members changed counts as changed.
        for number in pairs.keys.flatMap({ [$0.thing, $0.tag] }) { levels[parent].overlay(number, [:]) }
    }

    private func owner(of key: String?, in parents: [Int]) -> Int? {
        for level in parents {
            let numbers = Array(levels[level].made.keys) + Array(levels[level].set.keys)
            if let first = numbers.filter({ keys[$0] == key }).min() { return first }
        }
        return nil
    }

    /// Of several with one key in one save the first stays, and takes what it has not from the others.
    private mutating func unify(_ saved: inout Level) {
        for number in saved.made.keys.sorted() {
            guard let first = saved.made.keys.filter({ keys[$0] == keys[number] }).min(), first != number else { continue }
            let others = saved.made.removeValue(forKey: number) ?? [:]
            saved.made[first]?.merge(others) { mine, _ in mine }
            rename(number, first)
        }
    }

    mutating func save(_ level: Int) {
        var saved = levels[level]
        levels[level] = Level()
        unify(&saved)
        for (number, values) in saved.set { stored[number]?.merge(values) { $1 } }
        for (number, values) in saved.made.sorted(by: { $0.key < $1.key }) {
            if let owner = stored.keys.first(where: { keys[$0] == keys[number] }) {
                if let brought = brought(number, values) { stored[owner]?.merge(brought) { $1 } }
                rename(number, owner)
            } else {
                stored[number] = defaults(number).merging(values) { $1 }
            }
        }
        storedPairs.apply(current(saved.pairs))
    }

    private mutating func rename(_ number: Int, _ other: Int) {
        became[number] = other
        for level in levels.indices {
            levels[level].pairs = current(levels[level].pairs)
            guard let values = levels[level].set.removeValue(forKey: number) else { continue }
            levels[level].overlay(other, values)
        }
    }

    /// Another process goes on with what was pushed into the main context.
    mutating func crash() {
        for level in levels.indices.dropFirst(2) { levels[level] = Level() }
        push(from: 1, to: 0, searching: [0])
        save(0)
    }

    /// What a level shows, each object as its key and values.
    func shown(at path: [Int]) -> [String] {
        var world = stored, pairs = storedPairs
        for level in path {
            pairs.apply(levels[level].pairs)
            for (number, values) in levels[level].made { world[number] = defaults(number).merging(values) { $1 } }
            for (number, values) in levels[level].set { world[number]?.merge(values) { $1 } }
        }
        func name(_ number: Int) -> String { keys[now(number)] ?? "?" }
        return world.map { number, values in
            let tags = pairs.filter { $0.thing == number }.map { name($0.tag) }
            let (toOnes, numbers) = (values.filter { Keyed.toOnes.contains($0.key) }, values.filter { !Keyed.toOnes.contains($0.key) })
            return Self.line(name(number), numbers, toOnes.filter { $0.value != 0 }.mapValues(name), tags)
        }.sorted()
    }

    private static func line(_ key: String, _ numbers: Values, _ toOnes: [String: String], _ tags: [String]) -> String {
        let values = numbers.mapValues(String.init).merging(toOnes) { $1 }.sorted { $0.key < $1.key }
        return key + values.map { " \($0)=\($1)" }.joined() + tags.sorted().map { " #\($0)" }.joined()
    }

    /// The same, found in a context.
    static func found(in context: NSManagedObjectContext) throws -> [String] {
        try Keyed.keys.keys.flatMap { entity in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                let numbers = Keyed.numbers(of: entity).map { ($0, object.value(forKey: $0) as? Int ?? -1) }
                var toOnes: [String: String] = [:], tags: [String] = []
                if entity == "Thing" {
                    for name in Keyed.toOnes { toOnes[name] = (object.value(forKey: name) as? NSManagedObject).map { Keyed.name($0) ?? "nil" } }
                    tags = object.mutableOrderedSetValue(forKey: "tags").array.map { ($0 as? NSManagedObject).flatMap(Keyed.name) ?? "nil" }
                }
                return line(Keyed.key(object) ?? "nil", Dictionary(uniqueKeysWithValues: numbers), toOnes, tags)
            }
        }.sorted()
    }
}

extension Set {
    /// Adds what was added and removes what was removed.
    fileprivate mutating func apply(_ changes: [Element: Bool]) {
        for (element, isAdded) in changes {
            if isAdded { insert(element) } else { remove(element) }
        }
    }
}
