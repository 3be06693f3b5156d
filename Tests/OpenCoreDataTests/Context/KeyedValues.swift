import Foundation
import OpenCoreData

/// What the values of everything with a unique key should be: a model of upserts through levels, in which objects go by number.
///
/// A level has the new objects that were made there or pushed into it, and the values that were set on others. Where two objects turn out to have one
/// key, the merge policy says what becomes of the values of the one that came later.
struct KeyedValues {
    typealias Values = [String: Int]

    private struct Level {
        var made: [Int: Values] = [:]
        var set: [Int: Values] = [:]

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

    mutating func set(_ number: Int, _ values: Values, at level: Int) { levels[level].overlay(now(number), values) }

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

    mutating func push(from level: Int, to parent: Int, below: [Int]) {
        var pushed = levels[level]
        levels[level] = Level()
        unify(&pushed)
        for (number, values) in pushed.set { levels[parent].overlay(now(number), values) }
        for (number, values) in pushed.made.sorted(by: { $0.key < $1.key }) {
            let beside = pushed.set.keys.map(now).filter { keys[$0] == keys[number] }.min()
            if let owner = beside ?? owner(of: keys[number], in: below) {
                if let brought = brought(number, values) { levels[parent].overlay(owner, brought) }
                rename(number, owner)
            } else {
                levels[parent].made[number] = values
            }
        }
    }

    private func owner(of key: String?, in below: [Int]) -> Int? {
        for level in below {
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
    }

    private mutating func rename(_ number: Int, _ other: Int) {
        became[number] = other
        for level in levels.indices {
            guard let values = levels[level].set.removeValue(forKey: number) else { continue }
            levels[level].overlay(other, values)
        }
    }

    /// Another process goes on with what was pushed into the main context.
    mutating func crash() {
        for level in levels.indices.dropFirst(2) { levels[level] = Level() }
        push(from: 1, to: 0, below: [0])
        save(0)
    }

    /// What a level shows, each object as its key and values.
    func shown(at path: [Int]) -> [String] {
        var world = stored
        for level in path {
            for (number, values) in levels[level].made { world[number] = defaults(number).merging(values) { $1 } }
            for (number, values) in levels[level].set { world[number]?.merge(values) { $1 } }
        }
        return world.map { number, values in Self.line(keys[number] ?? "?", values) }.sorted()
    }

    private static func line(_ key: String, _ values: Values) -> String {
        key + values.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }.joined()
    }

    /// The same, found in a context.
    static func found(in context: NSManagedObjectContext) throws -> [String] {
        try Keyed.keys.keys.flatMap { entity in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                let values = Keyed.numbers(of: entity).map { ($0, object.value(forKey: $0) as? Int ?? -1) }
                return line(Keyed.key(object) ?? "nil", Dictionary(uniqueKeysWithValues: values))
            }
        }.sorted()
    }
}
