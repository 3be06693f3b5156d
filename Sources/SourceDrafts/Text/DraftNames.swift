/// Names for what is drafted: entities in the singular, and properties that the configuration takes.
enum DraftNames {
    /// The words of a text: letters and digits of ASCII; an upper-case letter after a lower-case one begins a word.
    static func words(_ text: String) -> [String] {
        var words: [String] = [], word = "", previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            let belongs = isWord(scalar), begins = isUpper(scalar) && isWord(previous) && !isUpper(previous)
            if !belongs || begins, !word.isEmpty {
                words.append(word)
                word = ""
            }
            if belongs { word.unicodeScalars.append(scalar) }
            previous = scalar
        }
        return word.isEmpty ? words : words + [word]
    }

    /// A letter or digit of ASCII.
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }

    private static func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }

    /// The text with something else in the place of what is neither letter nor digit of ASCII.
    private static func plain(_ text: String, _ other: Unicode.Scalar) -> String {
        var plain = ""
        for scalar in text.unicodeScalars { plain.unicodeScalars.append(isWord(scalar) || scalar == "_" ? scalar : other) }
        return plain
    }

    /// A word in the singular, by the plain rules of English.
    static func singular(_ word: String) -> String {
        let lower = word.lowercased()
        if let irregular = irregular[lower] { return irregular }
        if lower.count < 4 || unchanged.contains(lower) || lower.hasSuffix("ss") || lower.hasSuffix("us") || lower.hasSuffix("is") { return word }
        if lower.hasSuffix("ies") { return String(word.dropLast(3)) + "y" }
        for ending in ["sses", "shes", "ches", "xes", "zzes"] where lower.hasSuffix(ending) { return String(word.dropLast(2)) }
        return lower.hasSuffix("s") ? String(word.dropLast()) : word
    }

    private static let irregular = [
        "people": "person", "children": "child", "men": "man", "women": "woman", "statuses": "status", "addresses": "address", "indices": "index",
        "matrices": "matrix", "vertices": "vertex", "analyses": "analysis", "movies": "movie", "cookies": "cookie", "buses": "bus",
        "criteria": "criterion", "viruses": "virus", "bonuses": "bonus", "aliases": "alias", "campuses": "campus",
    ]
    private static let unchanged: Set = ["news", "series", "species", "data", "media", "sms", "gps", "dns", "https", "rss", "css", "aws"]

    /// A name for an entity; "Record" where the text has no words.
    static func entity(_ text: String, taken: Set<String>) -> String {
        var words = words(text)
        if let last = words.popLast() { words.append(singular(last)) }
        var name = String(words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined().prefix(longest))
        if name.first.map({ $0.isNumber }) ?? true { name = "Record" + name }
        let upper = name.uppercased()
        if upper.hasPrefix("CISTERN") || upper.hasPrefix("SQLITE") { name = "Remote" + name }
        // The tables are called as the entities are, with a Z in front, and letters of both cases are the same there.
        let taken = Set(taken.map { $0.uppercased() })
        func isFree(_ name: String) -> Bool {
            let upper = name.uppercased()
            return !taken.contains(upper) && !taken.contains("Z" + upper) && !(upper.hasPrefix("Z") && taken.contains(String(upper.dropFirst())))
        }
        if isFree(name) { return name }
        return (2...).lazy.map { "\(name)\($0)" }.first(where: isFree) ?? name
    }

    /// A name for a property of what stands at a path: as it is where that may be, else of the letters in it.
    static func property(_ path: [String], entity: String, taken: Set<String>) -> String {
        var name = plain(path.joined(separator: "_"), "_")
        while name.hasPrefix("_") { name.removeFirst() }
        name = String(name.prefix(longest))
        if name.isEmpty { name = "value" }
        if name.first?.isNumber == true { name = "n" + name }
        if reserved.contains(name) { name = entity.prefix(1).lowercased() + entity.dropFirst() + name.prefix(1).uppercased() + name.dropFirst() }
        if name.lowercased().hasPrefix("cistern") { name = "remote_" + name }
        if !taken.contains(name.lowercased()) { return name }
        return (2...).lazy.map { "\(name)_\($0)" }.first { !taken.contains($0.lowercased()) } ?? name
    }

    private static let longest = 100

    /// What every object has already.
    private static let reserved: Set = [
        "description", "debugDescription", "hash", "hashValue", "self", "superclass", "objectID", "entity", "managedObjectContext",
        "isInserted", "isUpdated", "isDeleted", "isFault", "hasChanges", "hasPersistentChangedValues", "faultingState",
    ]

    /// A name for a source: of letters, digits, "_" and "-".
    static func source(_ text: String) -> String {
        let name = plain(text, "-").split(separator: "-").joined(separator: "-").lowercased()
        return name.isEmpty ? "source" : String(name.prefix(48))
    }
}
