/// Names of members by which services tell their records apart, by common usage.
enum IdentityNames {
    /// The best first, in lower case and without anything but letters and digits.
    private static let strong = [
        "id", "uuid", "guid", "uid", "gid", "oid", "objectid", "recordid", "identifier", "key", "code", "slug", "sku", "ean", "isbn", "iso",
        "isocode",
        "alpha2", "alpha3", "cca2", "cca3", "ccn3", "iso2", "iso3", "geonameid", "nodeid", "sha", "symbol", "ticker", "handle", "login", "username",
    ]
    private static let ranks = Dictionary(strong.enumerated().map { ($1, $0) }) { first, _ in first }

    /// Those that nothing else is called, whatever else an object holds.
    private static let certain: Set = ["id", "uuid", "guid"]

    private static func plain(_ name: String) -> String {
        var plain = ""
        for scalar in name.lowercased().unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9": plain.unicodeScalars.append(scalar)
            default: break
            }
        }
        return plain
    }

    /// The smaller the better; nil: it is no name of that kind.
    static func rank(_ name: String, entity: String) -> Int? {
        let plain = plain(name)
        if let rank = ranks[plain] { return rank }
        if !entity.isEmpty, plain == entity.lowercased() + "id" { return 1 }
        return plain.hasPrefix("iso") && plain.utf8.count > 3 ? strong.count : nil
    }

    static func isCertain(_ name: String) -> Bool { certain.contains(plain(name)) }

    /// Whether members of such a name may belong to a key of several.
    static func isPart(_ name: String) -> Bool {
        guard let last = DraftNames.words(name).last?.lowercased() else { return false }
        return ["id", "uuid", "code", "key", "date", "day", "lang", "language", "locale", "number"].contains(last)
    }

    /// The member by which an object says which one it is; nil: it has none.
    static func identity(of object: SampleObject) -> MemberName? {
        zip(object.names, object.values).first { name, value in
            isCertain(name.text) && MemberPath.isWritable(name.text) && KeyValue(value) != nil
        }?.0
    }
}

/// A value that a key may have, compared as the store compares it.
struct KeyValue: Hashable {
    private let bytes: [UInt8]
    let isText: Bool

    /// Nil: nothing is recognised by such a value.
    init?(_ value: SampleValue) {
        switch value {
        case .text(let text):
            guard !text.isEmpty, text.utf8.count <= 512 else { return nil }
            bytes = Array((ScalarForm.isUUID(text) ? text.lowercased() : text).utf8)
            isText = true
        case .number:
            guard let digits = value.integer, digits.utf8.count <= 30 else { return nil }
            // 0 and -0 are one number.
            bytes = Array((digits == "-0" ? "0" : digits).utf8)
            isText = false
        case .null, .bool, .list, .object: return nil
        }
    }

    /// A 1 and a "1" are one key, where both occur.
    static func == (one: KeyValue, other: KeyValue) -> Bool { one.bytes == other.bytes }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
