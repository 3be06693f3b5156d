/// One `NAME=value` of a journal entry. The value may hold anything, line breaks too.
public struct JournalField: Sendable, Hashable {
    public static let longestName = 64

    public let name: String
    public let value: String

    /// nil if the journal would refuse the name: it consists of `A`–`Z`, `0`–`9` and `_`, has at most 64 characters and begins
    /// with a letter (names that begin with `_` are the journal's own).
    public init?(_ name: String, _ value: String) {
        guard Self.isValid(name) else { return nil }
        self.name = name
        self.value = value
    }

    private init(trusted name: String, value: String) {
        self.name = name
        self.value = value
    }

    public static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= longestName else { return false }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// A field under a name of any shape: a valid one stays as it is. Others are put into upper case, every foreign character
    /// becomes `_`, and `CISTERN_` goes before unless it is there (`request id` → `CISTERN_REQUEST_ID`).
    public static func adapting(_ key: String, _ value: String) -> JournalField {
        if isValid(key) { return JournalField(trusted: key, value: value) }
        let bytes = key.uppercased().utf8.map { isLetter($0) || isDigit($0) ? $0 : UInt8(ascii: "_") }
        let name = String(decoding: bytes, as: UTF8.self)
        let own = name.hasPrefix("CISTERN_") ? name : "CISTERN_" + name
        return JournalField(trusted: String(own.prefix(longestName)), value: value)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
