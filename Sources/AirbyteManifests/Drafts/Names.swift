import SyncConfiguration

/// What things are called that other programs call otherwise.
enum Names {
    /// The name of a source or resource: letters, digits, ".", "_" and "-".
    static func resource(_ wanted: String) -> String {
        var name = ""
        for character in wanted {
            let isAllowed = character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
            name.append(isAllowed ? character : "-")
        }
        let start = name.drop { $0 == "-" || $0 == "." }
        return start.isEmpty ? "stream" : String(start.prefix(60))
    }

    /// The name of an entity: `OrderItem` for `order_items`.
    static func entity(_ wanted: String) -> String {
        var words = words(wanted)
        if let last = words.popLast() { words.append(singular(last)) }
        var name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        if name.first.map({ !$0.isLetter }) ?? true { name = "Record\(name)" }
        let upper = name.uppercased()
        if upper.hasPrefix("Z_") || upper.hasPrefix("CISTERN") || upper.hasPrefix("SQLITE_") { name = "Record\(name)" }
        return String(name.prefix(100))
    }

    /// The name of an attribute: as the record calls it, where that is allowed.
    static func attribute(_ wanted: String, of entity: String) -> String {
        var name = ""
        for character in wanted {
            let isAllowed = character.isASCII && (character.isLetter || character.isNumber || character == "_")
            name.append(isAllowed ? character : "_")
        }
        while name.first == "_" { name.removeFirst() }
        if name.isEmpty { name = "value" }
        if name.first?.isLetter == false || name.lowercased().hasPrefix("cistern") { name = "x_\(name)" }
        if NameMatch.objectWords.contains(name) {
            name = entity.prefix(1).lowercased() + entity.dropFirst() + name.prefix(1).uppercased() + name.dropFirst()
        }
        return String(name.prefix(100))
    }

    /// The name of a credential.
    static func credential(_ source: String, _ words: [String]) -> String {
        let name = ([source] + words).joined(separator: "_")
        return String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "_" })
    }

    /// A name, or the first one with a number behind it that is free.
    static func free(_ name: String, isFree: (String) -> Bool) -> String {
        if isFree(name) { return name }
        var number = 2
        while !isFree("\(name)\(number)") { number += 1 }
        return "\(name)\(number)"
    }

    private static func words(_ text: String) -> [String] {
        var words: [String] = [], word = "", last: Character?
        for character in text {
            let isWord = character.isASCII && (character.isLetter || character.isNumber)
            if !isWord || character.isUppercase && last?.isLowercase == true {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if isWord { word.append(character) }
            last = character
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// English, as far as a few rules go.
    static func singular(_ word: String) -> String {
        let lower = word.lowercased()
        if lower.count < 4 || ["ss", "us", "is", "news", "series", "status"].contains(where: { lower.hasSuffix($0) }) { return word }
        if lower.hasSuffix("ies") { return String(word.dropLast(3)) + "y" }
        if ["sses", "xes", "ches", "shes", "zes", "statuses"].contains(where: { lower.hasSuffix($0) }) { return String(word.dropLast(2)) }
        return lower.hasSuffix("s") ? String(word.dropLast()) : word
    }
}
