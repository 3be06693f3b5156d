/// Which JSON key a property without a path stands for: its own name, its spelling in the other case convention, or the reserved word it avoids. Pure
/// text; nothing is looked up.
public enum NameMatch {
    /// The keys a property matches, in the order they are tried: its own name; `first_name` for `firstName`, or `firstName` for `first_name`; and for
    /// `userDescription` of the entity `User` the word `description`, which Core Data reserves.
    public static func candidates(for property: String, in entity: String) -> [String] {
        var names = [property]
        func add(_ name: String) {
            if !names.contains(name) { names.append(name) }
        }
        add(snakeCase(property))
        if property.contains("_") { for name in camelCases(property) { add(name) } }
        for prefix in [lowerFirst(entity), snakeCase(entity) + "_"] where property.hasPrefix(prefix) && property.count > prefix.count {
            let word = lowerFirst(String(property.dropFirst(prefix.count)))
            let isWordStart = prefix.hasSuffix("_") || property.dropFirst(prefix.count).first?.isUppercase == true
            if isWordStart, reserved.contains(word) { add(word) }
        }
        return names
    }

    /// The keys that a property of `entity` answers to: those of its name, and for `remoteID` the key `id` besides, unless something else of the
    /// entity answers to that.
    public static func candidates(for property: String, in entity: EntityConfiguration) -> [String] {
        let names = candidates(for: property, in: entity.name)
        guard property == "remoteID" || property == "remote_id" else { return names }
        let isTaken = entity.readProperties.contains { name, paths in
            name != property && (paths.isEmpty ? candidates(for: name, in: entity.name) : paths.compactMap(\.singleKey)).contains("id")
        }
        return isTaken ? names : names + ["id"]
    }

    /// The first candidate that is among the keys of a record.
    public static func key(for property: String, in entity: String, among keys: some Collection<String>) -> String? {
        candidates(for: property, in: entity).first { keys.contains($0) }
    }

    /// The names a property may have for a key of a record, in the reverse sense of ``candidates(for:in:)``: `firstName` for
    /// `first_name`, `userDescription` for `description` in the entity `User`.
    public static func properties(for key: String, in entity: String) -> [String] {
        var names = [key]
        if key.contains("_") {
            for name in camelCases(key) where !names.contains(name) { names.append(name) }
        } else if snakeCase(key) != key {
            names.append(snakeCase(key))
        }
        if reserved.contains(key) { names.append(lowerFirst(entity) + upperFirst(key)) }
        return names
    }

    /// `firstName` → `first_name`, `avatarURL` → `avatar_url`, `HTMLBody` → `html_body`, `sizeKB` → `size_kb`, `sha256Sum` → `sha256_sum`.
    /// A word begins at an upper-case letter, and a run of capitals is one word, whose last letter begins the next word if a lower-case
    /// letter follows. Digits stay with the word before them.
    public static func snakeCase(_ name: String) -> String {
        let letters = Array(name)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0, letters[index - 1] != "_" {
                let afterLower = !letters[index - 1].isUppercase
                let beforeLower = index + 1 < letters.count && letters[index + 1].isLowercase
                if afterLower || (beforeLower && !isPluralEnd(letters, index + 1)) { result.append("_") }
            }
            result += letter.lowercased()
        }
        return result
    }

    /// `first_name` → `firstName`, `avatar_url` → `avatarUrl`.
    public static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        guard name.contains("_"), let first = words.first else { return name }
        return first.lowercased() + words.dropFirst().map { upperFirst($0.lowercased()) }.joined()
    }

    /// Words that no property may be named, because every object already responds to them.
    package static let objectWords: Set<String> = [
        "description", "debugDescription", "hash", "hashValue", "self", "superclass", "objectID", "entity", "managedObjectContext",
        "isInserted", "isUpdated", "isDeleted", "isFault", "hasChanges", "hasPersistentChangedValues", "faultingState",
    ]

    /// Words a property may avoid by putting the entity's name before them.
    static let reserved: Set<String> = objectWords.union(["type", "class", "signed"])

    /// The camel-case spellings of a snake-case name: the plain one first, then those with words in capitals, as in `avatarURL` and
    /// `userID`, which come back to the name when they are spelt in snake case.
    private static func camelCases(_ name: String) -> [String] {
        let words = name.split(separator: "_").map { $0.lowercased() }
        var spellings = [camelCase(name)]
        for mask in 1..<(1 << min(words.count, 6)) {
            let spelling = words.enumerated().map { index, word in
                index < 6 && mask & (1 << index) != 0 ? word.uppercased() : index == 0 ? word : upperFirst(word)
            }.joined()
            if snakeCase(spelling) == name, !spellings.contains(spelling) { spellings.append(spelling) }
        }
        return spellings
    }

    /// Whether the letters from `index` are an `s` that ends a word, as in `userIDs`: it belongs to the acronym.
    private static func isPluralEnd(_ letters: [Character], _ index: Int) -> Bool {
        letters[index] == "s" && (index + 1 == letters.count || letters[index + 1].isUppercase || letters[index + 1] == "_")
    }

    private static func lowerFirst(_ text: String) -> String {
        text.prefix(1).lowercased() + text.dropFirst()
    }

    private static func upperFirst(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}

extension EntityConfiguration {
    /// What records say something of, with the paths that they name.
    var readProperties: [(name: String, paths: [JSONPath])] {
        attributes.filter(\.isRead).map { ($0.name, $0.paths) } + relationships.filter(\.isRead).map { ($0.name, $0.paths) }
    }
}
