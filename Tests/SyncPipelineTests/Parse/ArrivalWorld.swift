/// Numbers that a seed decides.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }

    mutating func next(upTo bound: Int) -> Int { Int(next() >> 33) % bound }
    mutating func chance(_ percent: Int) -> Bool { next(upTo: 100) < percent }
    mutating func element<T>(_ values: [T]) -> T? { values.isEmpty ? nil : values[next(upTo: values.count)] }
}

/// What identifies an object in any store.
struct ThingName: Hashable, Comparable, CustomStringConvertible {
    let entity: String
    let key: Int

    static func < (left: ThingName, right: ThingName) -> Bool { (left.entity, left.key) < (right.entity, right.key) }
    var description: String { "\(entity)/\(key)" }
}

/// What a record, or an object inside of one, says.
struct Saying {
    indirect enum Reference {
        case key(ThingName)
        case object(Saying)

        var name: ThingName {
            switch self {
            case .key(let name): name
            case .object(let saying): saying.name
            }
        }
    }

    let name: ThingName
    var values: [(String, String?)] = []
    var ones: [(String, Reference?)] = []
    var lists: [(String, [Reference])] = []
    /// It cannot be understood but for its key.
    var isBroken = false
    /// The same page says it once more, and otherwise.
    var isOld = false

    var json: String {
        if isBroken { return "{\"id\": \(name.key), \(values.map { "\"\($0.0)\": {}" }.joined(separator: ", "))}" }
        var fields = ["\"id\": \(name.key)"]
        fields += values.map { name, value in "\"\(name)\": \(value.map { "\"\($0)\"" } ?? "null")" }
        fields += ones.map { name, target in "\"\(name)\": \(target.map(Self.json) ?? "null")" }
        fields += lists.map { name, targets in "\"\(name)\": [\(targets.map(Self.json).joined(separator: ", "))]" }
        return "{\(fields.joined(separator: ", "))}"
    }

    private static func json(_ reference: Reference) -> String {
        switch reference {
        case .key(let name): "\(name.key)"
        case .object(let saying): saying.json
        }
    }
}

/// What the servers know at one time: every source tells of the same things, each in its own form.
struct ArrivalWorld {
    struct Thing {
        var values: [String?]
        var ones: [String: Int] = [:]
        var lists: [String: [Int]] = [:]
        var isListed = true
        /// Its own record says nonsense.
        var isBroken = false
    }

    /// What is fixed for a seed.
    struct Plan {
        let seed: Int
        /// Sources and the entities that they list.
        var sources: [(name: String, entity: String)]
        var pages: [String: Int] = [:]
        /// Whether a vanished row stays as a tombstone.
        var keepsTombstones: Bool
        var teamsSayMembers: Bool
        var tagsSayPeople: Bool

        /// The same for ever, for the same words: so that a page changes only where the world does.
        func fixed(_ words: Any...) -> Int {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(seed)
            for byte in words.map({ "\($0)" }).joined(separator: "|").utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
            return Int(hash >> 33)
        }
    }

    static let attributes = ["Person": ["name", "bio"], "Team": ["title", "motto"], "Tag": ["color"], "Post": ["text"]]
    static let ones = ["Person": [("boss", "Person"), ("team", "Team")], "Team": [("lead", "Person")], "Post": [("author", "Person")]]
    /// The lists that belong to one side; `Team.members` and `Tag.people` are the other sides of what people say.
    static let lists = ["Person": [("tags", "Tag")], "Team": [("ranking", "Person")], "Post": [("likers", "Person")]]
    static let counts = ["Person": 9, "Team": 3, "Tag": 4, "Post": 5]

    let plan: Plan
    private(set) var things: [ThingName: Thing] = [:]

    init(_ plan: Plan, using random: inout SeededNumbers) {
        self.plan = plan
        for (entity, count) in Self.counts.sorted(by: { $0.key < $1.key }) {
            for key in 1...count { things[ThingName(entity: entity, key: key)] = Thing(values: []) }
        }
        for name in things.keys.sorted() {
            things[name]?.isListed = random.chance(80)
            renew(name, using: &random)
        }
        settle()
    }

    private func lives(_ entity: String, _ key: Int) -> Bool { things[ThingName(entity: entity, key: key)]?.isListed ?? false }

    private mutating func renew(_ name: ThingName, using random: inout SeededNumbers) {
        things[name]?.values = (Self.attributes[name.entity] ?? []).map { _ in random.chance(15) ? nil : "v\(random.next(upTo: 50))" }
        for (one, entity) in Self.ones[name.entity] ?? [] { point(name, one, entity, using: &random) }
        for (list, entity) in Self.lists[name.entity] ?? [] { fill(name, list, entity, using: &random) }
    }

    private mutating func point(_ name: ThingName, _ one: String, _ entity: String, using random: inout SeededNumbers) {
        let count = Self.counts[entity] ?? 1
        // Some name what nobody ever lists.
        things[name]?.ones[one] = random.chance(20) ? nil : random.chance(5) ? 90 + random.next(upTo: 3) : 1 + random.next(upTo: count)
    }

    private mutating func fill(_ name: ThingName, _ list: String, _ entity: String, using random: inout SeededNumbers) {
        things[name]?.lists[list] = Array(1...(Self.counts[entity] ?? 1)).filter { _ in random.chance(35) }.shuffled(using: &random)
    }

    /// Some things change, go, come, or are again what they were.
    mutating func change(using random: inout SeededNumbers, earlier: [ArrivalWorld]) {
        for _ in 0..<2 + random.next(upTo: 7) {
            guard let name = random.element(things.keys.sorted()) else { return }
            switch random.next(upTo: 10) {
            case 0: renew(name, using: &random)
            case 1: things[name]?.isListed.toggle()
            case 2 where random.chance(50): things[name]?.isListed.toggle()
            case 2: things[name]?.isBroken.toggle()
            case 3, 4:
                let index = random.next(upTo: Self.attributes[name.entity]?.count ?? 1)
                things[name]?.values[index] = "v\(random.next(upTo: 50))"
            case 5, 6: if let (one, entity) = random.element(Self.ones[name.entity] ?? []) { point(name, one, entity, using: &random) }
            case 7: if let (list, entity) = random.element(Self.lists[name.entity] ?? []) { fill(name, list, entity, using: &random) }
            default: if let before = random.element(earlier)?.things[name] { things[name] = before }
            }
        }
        settle()
    }

    /// What is listed by nobody is not in lists; where its row goes for good nothing points at it either, or whoever is first would decide.
    private mutating func settle() {
        for (entity, _) in Self.counts where !things.contains(where: { $0.key.entity == entity && $0.value.isListed }) {
            things[ThingName(entity: entity, key: 1)]?.isListed = true
        }
        for name in things.keys {
            for (list, entity) in Self.lists[name.entity] ?? [] {
                let living = (things[name]?.lists[list] ?? []).filter { lives(entity, $0) }
                things[name]?.lists[list] = living
            }
            guard !plan.keepsTombstones else { continue }
            for (one, entity) in Self.ones[name.entity] ?? [] {
                if let key = things[name]?.ones[one], key < 90, !lives(entity, key) { things[name]?.ones[one] = nil }
            }
        }
    }

    // MARK: What is said

    /// The records of each page of a source. None is empty: an empty one would be the last. In none is everything broken: it would count for nothing.
    ///
    /// - Parameter vouched: what the source vouched for until now. Only of that records are broken; whether another row is there by then depends on
    ///   who comes first.
    func pages(_ source: String, _ entity: String, vouched: Set<ThingName>) -> [[Saying]] {
        let count = plan.pages[source] ?? 1
        let names = things.filter { $0.key.entity == entity && $0.value.isListed }.keys
        let pages = (0..<count).map { page in
            names.filter { plan.fixed(source, $0) % count == page }
                .sorted { plan.fixed(source, "order", $0) < plan.fixed(source, "order", $1) }.map(record)
        }.filter { !$0.isEmpty }.map { records in
            var records = records
            for index in records.indices where !vouched.contains(records[index].name) { records[index].isBroken = false }
            if records.allSatisfy(\.isBroken) { records[0].isBroken = false }
            return records
        }
        return repeating(pages, of: source)
    }

    /// Servers repeat themselves: a record comes again at the end of its page or of the next one, or first comes as it was once.
    private func repeating(_ pages: [[Saying]], of source: String) -> [[Saying]] {
        var result = pages
        for (number, records) in pages.enumerated() {
            for record in records {
                switch plan.fixed("again", source, record.name) % 15 {
                case 0: result[number].append(record)
                case 1 where number + 1 < pages.count: result[number + 1].append(record)
                case 2 where !record.isBroken:
                    var old = record
                    old.isOld = true
                    old.values = old.values.map { ($0.0, "old") }
                    old.lists = []
                    result[number].insert(old, at: 0)
                default: break
                }
            }
        }
        return result
    }

    private func record(_ name: ThingName) -> Saying {
        var saying = Saying(name: name)
        guard let thing = things[name] else { return saying }
        saying.isBroken = thing.isBroken
        saying.values = zip(Self.attributes[name.entity] ?? [], thing.values).map { ($0, $1) }
        saying.ones = (Self.ones[name.entity] ?? []).map { one, entity in
            (one, thing.ones[one].map { reference(to: ThingName(entity: entity, key: $0), from: name, one) })
        }
        for (list, entity) in Self.lists[name.entity] ?? [] {
            saying.lists.append((list, (thing.lists[list] ?? []).map { reference(to: ThingName(entity: entity, key: $0), from: name, list) }))
        }
        func others(_ list: String, _ test: (Thing) -> Bool) {
            let people = things.filter { $0.key.entity == "Person" && $0.value.isListed && test($0.value) }.keys.sorted()
            saying.lists.append((list, people.map { reference(to: $0, from: name, list) }))
        }
        if name.entity == "Team" && plan.teamsSayMembers { others("members") { $0.ones["team"] == name.key } }
        if name.entity == "Tag" && plan.tagsSayPeople { others("people") { $0.lists["tags"]?.contains(name.key) ?? false } }
        return saying
    }

    /// A key, or a short form of the object.
    private func reference(to name: ThingName, from owner: ThingName, _ property: String) -> Saying.Reference {
        guard lives(name.entity, name.key), let thing = things[name], plan.fixed("form", owner, property, name) % 2 == 0 else {
            return .key(name)
        }
        var saying = Saying(name: name)
        for (index, pair) in zip(Self.attributes[name.entity] ?? [], thing.values).enumerated()
        where index == 0 || plan.fixed("more", owner, name) % 3 == 0 {
            saying.values.append(pair)
        }
        if name.entity == "Person", plan.fixed("team", owner, name) % 3 == 0 {
            saying.ones.append(("team", thing.ones["team"].map { .key(ThingName(entity: "Team", key: $0)) }))
        }
        return .object(saying)
    }
}
