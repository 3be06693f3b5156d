/// A value of JSON or YAML. The members of an object keep their order.
public enum DataValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case text(String)
    case list([DataValue])
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: DataValue

        public init(_ name: String, _ value: DataValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object of these members; those whose value is nil are left out.
    public static func having(_ members: [(String, DataValue?)]) -> DataValue {
        var list: [Member] = []
        for (name, value) in members {
            if let value { list.append(Member(name, value)) }
        }
        return .object(list)
    }

    // MARK: Looking in

    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    public var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    public var int: Int? {
        if case .int(let number) = self { number } else { nil }
    }

    /// A number of either kind.
    public var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    public var list: [DataValue]? {
        if case .list(let list) = self { list } else { nil }
    }

    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    public var isNull: Bool { self == .null }

    /// The value of a member; nil where this is no object or has none of that name.
    public subscript(_ name: String) -> DataValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// What is at the end of these steps; digits are an index where a list is met.
    public func at(_ path: [String]) -> DataValue? {
        var value = self
        for step in path {
            if case .list(let list) = value {
                guard let index = Int(step), list.indices.contains(index) else { return nil }
                value = list[index]
            } else {
                guard let next = value[step] else { return nil }
                value = next
            }
        }
        return value
    }

    // MARK: Changing

    /// Puts a value at the end of these steps; objects that are missing on the way are made, and whatever else stands there is replaced.
    public mutating func set(_ value: DataValue, at path: [String]) {
        guard let first = path.first else {
            self = value
            return
        }
        var members = self.members ?? []
        let rest = Array(path.dropFirst())
        if let index = members.firstIndex(where: { $0.name == first }) {
            members[index].value.set(value, at: rest)
        } else {
            var inner = DataValue.object([])
            inner.set(value, at: rest)
            members.append(Member(first, inner))
        }
        self = .object(members)
    }

    /// Takes away what is at the end of these steps, if there is something.
    public mutating func remove(at path: [String]) {
        guard let first = path.first, case .object(var members) = self, let index = members.firstIndex(where: { $0.name == first }) else { return }
        if path.count == 1 {
            members.remove(at: index)
        } else {
            members[index].value.remove(at: Array(path.dropFirst()))
        }
        self = .object(members)
    }

    // MARK: Comparing

    /// As a template writes it into a text.
    public var shown: String {
        switch self {
        case .null: ""
        case .bool(let flag): flag ? "True" : "False"
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .text(let text): text
        case .list, .object: json
        }
    }

    /// The same text for whatever says the same: members sorted, numbers by their size.
    public var canonical: String {
        switch self {
        case .int(let number): return "\(Double(number))"
        case .list(let list): return "[" + list.map(\.canonical).joined(separator: ",") + "]"
        case .object(let members):
            let sorted = members.sorted { $0.name < $1.name }
            return "{" + sorted.map { "\($0.name):\($0.value.canonical)" }.joined(separator: ",") + "}"
        default: return json
        }
    }

    /// Whether two values say the same: numbers by their size, members in any order.
    public func isSame(as other: DataValue) -> Bool {
        if let one = number, let two = other.number { return one == two }
        switch (self, other) {
        case (.list(let one), .list(let two)):
            return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
        case (.object(let one), .object(let two)):
            guard one.count == two.count else { return false }
            return one.allSatisfy { member in other[member.name].map { member.value.isSame(as: $0) } ?? false }
        default: return self == other
        }
    }
}
