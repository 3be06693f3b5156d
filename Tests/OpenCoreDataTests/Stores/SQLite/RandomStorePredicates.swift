import OpenCoreData

/// Random numbers that are the same in every run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &self)] }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// Random predicates over the model of `StorePredicateTests`: `Owner` with its bosses, pets and their tags.
struct RandomStorePredicates {
    enum Kind: CaseIterable {
        case number, decimal, string, date, uuid, data, object
    }

    var numbers: SeededNumbers
    /// Objects of each entity that constants may name.
    let owners: [NSManagedObjectID]
    let pets: [NSManagedObjectID]

    static let strings = [
        "", "a", "A", "á", "Á", "ab", "aB", "abc", "bab", "É", "e\u{301}", "é", "ß", "ss", "Straße", "x*y", "x?y", "a.b", "日本", "z", "'q\"", "İ",
        "\u{FFFD}", "\u{10FFFF}",
    ]
    static let decimals = ["0", "1", "-1", "0.1", "2.5", "12345678901234567890.5", "-12345678901234567890.25", "3", "9223372036854775808"]
    static let dates = [-1.5, 0, 1, 86400, 86400.25, 1e9]

    mutating func predicate(depth: Int = 3) -> PredicateNode {
        if depth > 0 && numbers.chance(55) {
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0, 1: return .and((0..<Int.random(in: 0...3, using: &numbers)).map { _ in predicate(depth: depth - 1) })
            case 2: return .or((0..<Int.random(in: 0...3, using: &numbers)).map { _ in predicate(depth: depth - 1) })
            default: return .not(predicate(depth: depth - 1))
            }
        }
        return .comparison(comparison(base: nil, depth: depth))
    }

    /// A comparison of what is reached from `SELF`, or from a variable that stands for a pet.
    private mutating func comparison(base: String?, depth: Int) -> PredicateComparison {
        let kind = numbers.pick(Kind.allCases),
            options = numbers.pick(
                [
                    [], [], [], [.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive], [.localeSensitive],
                    [.caseInsensitive, .localeSensitive],
                ] as [NSComparisonPredicate.Options])
        let other = numbers.chance(7) ? numbers.pick(Kind.allCases) : kind
        if base == nil && numbers.chance(25) {
            let (path, kind) = collection()
            let modifier = numbers.pick([.any, .all] as [NSComparisonPredicate.Modifier])
            let (type, right) = test(of: numbers.chance(93) ? kind : other, base: base, depth: depth)
            return PredicateComparison(left: .keyPath(PredicateKeyPath(keys: path)), right: right, modifier: modifier, type: type, options: options)
        }
        if base == nil && numbers.chance(10) {
            // Membership in a to-many, both ways round.
            let (path, kind) = collection()
            let members = ExpressionNode.keyPath(PredicateKeyPath(keys: path)), value = scalar(kind, base: base, depth: depth)
            return numbers.chance(50)
                ? PredicateComparison(left: value, right: members, type: .in, options: options)
                : PredicateComparison(left: members, right: value, type: .contains, options: options)
        }
        let left = scalar(kind, base: base, depth: depth)
        let (type, right) = test(of: other, base: base, depth: depth)
        let modifier: NSComparisonPredicate.Modifier = numbers.chance(5) ? numbers.pick([.any, .all]) : .direct
        return PredicateComparison(left: left, right: right, modifier: modifier, type: type, options: options)
    }

    /// An operator and its right side.
    private mutating func test(of kind: Kind, base: String?, depth: Int) -> (NSComparisonPredicate.Operator, ExpressionNode) {
        let equality: [NSComparisonPredicate.Operator] = [.equalTo, .notEqualTo]
        let order: [NSComparisonPredicate.Operator] = [.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo]
        if numbers.chance(15) {
            let count = numbers.chance(30) ? Int.random(in: 9...14, using: &numbers) : Int.random(in: 0...4, using: &numbers)
            let elements = (0..<count).map { _ in constant(numbers.chance(90) ? kind : numbers.pick(Kind.allCases)) }
            if numbers.chance(20) { return (.in, .aggregate(elements.map { .constant($0) } + [scalar(kind, base: base, depth: 0)])) }
            return (.in, .constant(.collection(PredicateCollection(elements, kind: numbers.pick([.array, .set])))))
        }
        if kind != .object && numbers.chance(10) {
            let bounds = [constant(kind), constant(kind)]
            return (.between, .constant(.collection(PredicateCollection(bounds, kind: .array))))
        }
        var choices = equality
        if kind != .object { choices += order }
        if kind == .string || numbers.chance(3) { choices += [.contains, .beginsWith, .endsWith, .like, .in] }
        if kind == .string && numbers.chance(20) { return (.matches, .constant(.string(numbers.pick(["a.*", "[aá]b?", ".", "", "(x|z).*y?"])))) }
        return (numbers.pick(choices), numbers.chance(65) ? .constant(constant(kind)) : scalar(kind, base: base, depth: depth))
    }

    private mutating func collection() -> ([String], Kind) {
        numbers.pick([
            (["pets"], .object), (["pets", "name"], .string), (["pets", "weight"], .number), (["pets", "price"], .decimal),
            (["pets", "owner"], .object),
            (["pets", "owner", "name"], .string), (["pets", "tags", "word"], .string), (["boss", "pets", "name"], .string),
            (["boss", "pets", "owner", "age"], .number), (["pets", "owner", "pets", "born"], .date), (["pets", "tags", "pets", "name"], .string),
            (["reports", "name"], .string), (["reports", "boss"], .object), (["reports", "pets", "owner", "boss", "name"], .string),
            (["boss", "reports", "boss", "reports", "token"], .uuid), (["seen", "name"], .string),
            (["reports", "boss", "boss", "pets", "name"], .string),
        ])
    }

    private mutating func scalar(_ kind: Kind, base: String?, depth: Int) -> ExpressionNode {
        if numbers.chance(4) { return .constant(.null) }
        if depth > 0 && numbers.chance(25) { return computed(kind, base: base, depth: depth) }
        let own: [[String]]
        switch (kind, base) {
        case (.number, nil): own = [["age"], ["score"], ["flag"], ["boss", "age"], ["boss", "boss", "score"]]
        case (.decimal, nil): own = [["money"], ["boss", "money"]]
        case (.string, nil): own = [["name"], ["boss", "name"], ["boss", "boss", "name"]]
        case (.date, nil): own = [["born"], ["boss", "born"]]
        case (.uuid, nil): own = [["token"], ["boss", "token"]]
        case (.data, nil): own = [["blob"], ["boss", "blob"]]
        case (.object, nil): own = [["boss"], ["boss", "boss"], ["self"], ["objectID"], ["boss", "objectID"]]
        case (.number, _): own = [["weight"], ["owner", "age"]]
        case (.decimal, _): own = [["price"], ["owner", "money"]]
        case (.string, _): own = [["name"], ["owner", "name"], ["owner", "boss", "name"]]
        case (.date, _): own = [["born"], ["owner", "born"]]
        case (.uuid, _): own = [["owner", "token"]]
        case (.data, _): own = [["owner", "blob"]]
        case (.object, _): own = [["owner"], ["owner", "boss"]]
        }
        let path = PredicateKeyPath(keys: numbers.pick(own))
        return base.map { .keyPathOf(.variable($0), path) } ?? .keyPath(path)
    }

    private mutating func computed(_ kind: Kind, base: String?, depth: Int) -> ExpressionNode {
        func path(_ keys: [String], _ found: CollectionOperator, _ rest: [String]) -> ExpressionNode {
            .keyPath(PredicateKeyPath(steps: keys.map { .key($0) } + [.collectionOperator(found)] + rest.map { .key($0) }))
        }
        let to = numbers.pick([["pets"], ["boss", "pets"], ["reports", "pets"]])
        switch kind {
        case .number:
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0 where base == nil: return path(numbers.pick([to, to + ["tags"], to + ["owner"], to + ["name"]]), .count, [])
            case 1 where base == nil: return path(to, numbers.pick([.sum, .avg, .min, .max]), numbers.pick([["weight"], ["owner", "age"]]))
            case 2 where base == nil:
                let inner = PredicateNode.comparison(comparison(base: "p", depth: depth - 1))
                let found = ExpressionNode.subquery(
                    collection: .keyPath(PredicateKeyPath(keys: to)), variable: "p", predicate: numbers.chance(30) ? .not(inner) : inner)
                return numbers.chance(50) ? found.appending(PredicateKeyPath(steps: [.collectionOperator(.count)])) : .function("count:", [found])
            case 3 where base == nil: return .index(.keyPath(PredicateKeyPath(keys: ["pets"])), .size)
            case 4: return .function("length:", [scalar(.string, base: base, depth: depth - 1)])
            case 5: return .function(numbers.pick(["abs:", "floor:", "ceiling:", "trunc:"]), [scalar(.number, base: base, depth: depth - 1)])
            case 6:
                return .conditional(
                    .comparison(comparison(base: base, depth: depth - 1)), scalar(.number, base: base, depth: 0),
                    scalar(.number, base: base, depth: 0))
            default:
                let name = numbers.pick(["add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:"])
                return .function(name, [scalar(.number, base: base, depth: depth - 1), scalar(.number, base: base, depth: depth - 1)])
            }
        case .decimal where base == nil && numbers.chance(60): return path(to, numbers.pick([.sum, .min, .max, .avg]), ["price"])
        case .decimal:
            return .function(
                numbers.pick(["add:to:", "from:subtract:", "multiply:by:"]), [scalar(.decimal, base: base, depth: 0), .constant(.integer(2))])
        case .string where base == nil && numbers.chance(40): return path(to, numbers.pick([.min, .max]), ["name"])
        case .string: return .function(numbers.pick(["uppercase:", "lowercase:", "canonical:"]), [scalar(.string, base: base, depth: depth - 1)])
        case .date where base == nil: return path(to, numbers.pick([.min, .max]), ["born"])
        case .date: return .cast(scalar(.number, base: base, depth: 0), "NSDate")
        case .uuid, .data, .object: return scalar(kind, base: base, depth: 0)
        }
    }

    mutating func constant(_ kind: Kind) -> PredicateValue {
        if numbers.chance(6) { return .null }
        switch kind {
        case .number:
            return numbers.pick([
                .integer(Int64.random(in: -3...5, using: &numbers)), .double(Double(Int.random(in: -8...12, using: &numbers)) / 4),
                .bool(numbers.chance(50)), .decimal(Decimal(Int.random(in: -3...5, using: &numbers))), .integer(.max),
                .decimal(Decimal(string: "0.25") ?? 0),
            ])
        case .decimal:
            return numbers.pick([
                .decimal(Decimal(string: numbers.pick(Self.decimals)) ?? 0), .integer(Int64.random(in: -2...3, using: &numbers)), .double(2.5),
                .double(0.1),
            ])
        case .string: return .string(numbers.pick(Self.strings))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: numbers.pick(Self.dates)))
        case .uuid: return .uuid(StorePredicateTests.uuid(Int.random(in: 0..<6, using: &numbers)))
        case .data: return .data(Data(numbers.pick([[], [0], [0, 1], [255], [1, 2, 3]])))
        case .object: return .object(PredicateObject(numbers.pick(numbers.chance(70) ? owners : pets)))
        }
    }
}
