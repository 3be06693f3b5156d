import JSONReader

/// A made-up document, as a value that says itself where its records are: plainly, over the whole of it, and not as the walker does.
indirect enum RecordTree {
    case word(String)
    case list([RecordTree])
    case map([Member])

    /// With its name as it stands in the text, and decoded.
    struct Member {
        let text: String
        let name: String
        let value: RecordTree

        init(_ name: String, _ value: RecordTree, text: String? = nil) {
            self.name = name
            self.text = text ?? name
            self.value = value
        }
    }

    var text: String {
        switch self {
        case .word(let word): word
        case .list(let elements): "[\(elements.map(\.text).joined(separator: ", "))]"
        case .map(let members): "{\(members.map { "\"\($0.text)\": \($0.value.text)" }.joined(separator: ","))}"
        }
    }

    struct Record: Equatable {
        let text: String
        let name: String?
        let isBad: Bool
    }

    /// What must be found at a path.
    struct Found: Equatable {
        var records: [Record] = []
        /// Whether there was anything where the path leads to, or where a wildcard goes over it.
        var isAnywhere = false
        var hasNull = false
        var hasWord = false
        /// Whether something that a wildcard goes over has nothing at the rest of the path.
        var lacks = false
    }

    func records(at path: JSONPath) -> Found {
        var found = Found()
        _ = collect(path.segments[...], name: nil, isEach: false, into: &found)
        return found
    }

    private var isNull: Bool { if case .word("null") = self { true } else { false } }

    /// - Returns: whether the path leads anywhere.
    private func collect(_ path: ArraySlice<JSONPath.Segment>, name: String?, isEach: Bool, into found: inout Found) -> Bool {
        guard let step = path.first else {
            find(name, isEach: isEach, into: &found)
            return true
        }
        let rest = path.dropFirst()
        switch (step, self) {
        case (.each, .list(let elements)):
            found.isAnywhere = true
            for element in elements where !element.collect(rest, name: name, isEach: true, into: &found) { found.lacks = true }
            return true
        case (.each, .map(let members)):
            found.isAnywhere = true
            for member in members where !member.value.collect(rest, name: member.name, isEach: true, into: &found) { found.lacks = true }
            return true
        case (.each, .word):
            found.hasNull = found.hasNull || isNull
            found.isAnywhere = found.isAnywhere || isNull
            return isNull
        case (.key(let key), .map(let members)):
            guard let member = members.first(where: { $0.name == key }) else { return false }
            return member.value.collect(rest, name: name, isEach: false, into: &found)
        case (.index(let index), .list(let elements)):
            return elements.indices.contains(index) && elements[index].collect(rest, name: name, isEach: false, into: &found)
        case (.index(let index), .map(let members)):
            guard let member = members.first(where: { $0.name == "\(index)" }) else { return false }
            return member.value.collect(rest, name: name, isEach: false, into: &found)
        case (.key, _), (.index, _): return false
        }
    }

    private func find(_ name: String?, isEach: Bool, into found: inout Found) {
        found.isAnywhere = true
        switch self {
        case .list(let elements):
            for element in elements {
                var isBad = true
                if case .map = element { isBad = false }
                found.records.append(Record(text: element.text, name: name, isBad: isBad))
            }
        case .map: found.records.append(Record(text: text, name: name, isBad: false))
        case .word where isEach: found.records.append(Record(text: text, name: name, isBad: true))
        case .word:
            if isNull { found.hasNull = true } else { found.hasWord = true }
        }
    }
}

extension RecordTree {
    /// A document in which there mostly is something at a path.
    static func random(_ path: ArraySlice<JSONPath.Segment>, isEach: Bool = false, using random: inout RandomDocument) -> RecordTree {
        guard let step = path.first else { return end(isEach: isEach, using: &random) }
        if random.chance(14) { return anyWord(using: &random) }
        let rest = path.dropFirst()
        switch step {
        case .each:
            let count = Int.random(in: 0...3, using: &random)
            let values = (0..<count).map { _ in RecordTree.random(rest, isEach: true, using: &random) }
            return random.chance(2) ? .list(values) : named(values, using: &random)
        case .key(let key):
            var members = filler(2, using: &random)
            if !random.chance(10) { members.insert(Member(key, RecordTree.random(rest, using: &random)), at: members.count / 2) }
            return .map(members)
        case .index(let index):
            let count = random.chance(8) ? index : index + 1 + Int.random(in: 0...1, using: &random)
            return .list((0..<count).map { $0 == index ? RecordTree.random(rest, using: &random) : anyWord(using: &random) })
        }
    }

    private static func end(isEach: Bool, using random: inout RandomDocument) -> RecordTree {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: anyWord(using: &random)
        case 1: .word("null")
        case 2..<(isEach ? 14 : 6): record(using: &random)
        default:
            .list((0..<Int.random(in: 0...3, using: &random)).map { _ in random.chance(6) ? anyWord(using: &random) : record(using: &random) })
        }
    }

    private static func record(using random: inout RandomDocument) -> RecordTree {
        let id = RecordTree.word("\(Int.random(in: 0...99, using: &random))")
        var members = [Member("id", id)] + filler(2, using: &random)
        members.append(Member("rows", .list([.map([Member("id", id)])])))
        return .map(members)
    }

    private static func anyWord(using random: inout RandomDocument) -> RecordTree {
        RecordTree.word(["null", "1", "-2.5e3", "true", "\"x]}\"", "\"\\u00e9\"", "[]", "{}"].randomElement(using: &random) ?? "null").normalized
    }

    /// The empty containers among the words are none.
    private var normalized: RecordTree {
        switch self {
        case .word("[]"): .list([])
        case .word("{}"): .map([])
        default: self
        }
    }

    private static func named(_ values: [RecordTree], using random: inout RandomDocument) -> RecordTree {
        var members: [Member] = []
        for (number, value) in values.enumerated() {
            let start = ["a", "", "a longer name of more than sixteen bytes ", "\u{e9}"].randomElement(using: &random) ?? ""
            let name = "\(start)\(number)"
            members.append(random.chance(4) ? Member("A\(name)\n", value, text: "\\u0041\(name)\\n") : Member(name, value))
        }
        return .map(members)
    }

    private static func filler(_ most: Int, using random: inout RandomDocument) -> [Member] {
        (0..<Int.random(in: 0...most, using: &random)).map { number in
            Member("f\(number)", random.chance(3) ? .list([.map([Member("items", .list([]))])]) : anyWord(using: &random))
        }
    }
}
