/// A JSON value of a sample, with the members of objects in their order.
indirect enum SampleValue: Sendable {
    case null
    case bool(Bool)
    /// A number, as it is written.
    case number(String)
    case text(String)
    case list([SampleValue])
    case object(SampleObject)

    var isNull: Bool { if case .null = self { true } else { false } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var object: SampleObject? { if case .object(let object) = self { object } else { nil } }
    var list: [SampleValue]? { if case .list(let list) = self { list } else { nil } }
    /// A number, as it is written.
    var digits: String? { if case .number(let digits) = self { digits } else { nil } }
    /// A number without fraction and exponent.
    var integer: String? {
        guard let digits, digits.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }) else { return nil }
        return digits
    }
    /// The value of an integer that fits.
    var int64: Int64? { integer.flatMap { Int64($0) } }
    var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
}

/// The name of a member. Names are compared byte by byte, as the reader of records does, and not as texts that look the same.
struct MemberName: Sendable, Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (one: MemberName, other: MemberName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// An object of a sample. Of several members of one name the first counts.
struct SampleObject: Sendable {
    private(set) var names: [MemberName] = []
    private(set) var values: [SampleValue] = []
    /// Made for objects in which looking through all names would take long.
    private var places: [MemberName: Int] = [:]

    private static let few = 12

    var count: Int { names.count }

    /// Does nothing where there is a member of this name already.
    mutating func add(_ name: MemberName, _ value: SampleValue) {
        if place(of: name) != nil { return }
        names.append(name)
        values.append(value)
        if names.count == Self.few + 1 {
            for (place, name) in names.enumerated() { places[name] = place }
        } else if names.count > Self.few {
            places[name] = names.count - 1
        }
    }

    subscript(name: MemberName) -> SampleValue? { place(of: name).map { values[$0] } }
    subscript(name: String) -> SampleValue? { self[MemberName(name)] }

    private func place(of name: MemberName) -> Int? {
        names.count > Self.few ? places[name] : names.firstIndex(of: name)
    }

    /// What stands at the end of a path of names; nil where it does not lead on.
    func value(at path: [MemberName]) -> SampleValue? {
        guard let first = path.first, let value = self[first] else { return nil }
        return path.count == 1 ? value : value.object?.value(at: Array(path.dropFirst()))
    }
}
