import Foundation

/// What a backup is called: `cistern-20270115T080000Z`, by the time in UTC when it was begun, and `-2` after that for another one of the same second.
package struct BackupName: Sendable, Hashable, Comparable {
    private static let prefix = "cistern-"

    /// As a folder is called.
    package let text: String
    /// Wall time, in whole seconds.
    package let madeAt: Date
    private let number: Int

    package init(madeAt: Date, number: Int = 1) {
        let seconds = Date(timeIntervalSince1970: madeAt.timeIntervalSince1970.rounded(.down))
        self.madeAt = seconds
        self.number = number
        text = Self.prefix + seconds.formatted(Self.format) + (number > 1 ? "-\(number)" : "")
    }

    /// Nil: it is the name of something else.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let time = try? Date(String(parts[0]), strategy: Self.format) else { return nil }
        let number = parts.count == 2 ? Int(parts[1]) ?? 0 : 1
        self.init(madeAt: time, number: number)
        // Nothing that is only similar.
        if self.text != text { return nil }
    }

    private static var format: Date.ISO8601FormatStyle { .iso8601.dateSeparator(.omitted).timeSeparator(.omitted) }

    package static func < (left: Self, right: Self) -> Bool { (left.madeAt, left.number) < (right.madeAt, right.number) }
}

/// What a backup says of itself, in the file `backup.json` beside its content. A folder without it may be a copy that somebody has made by hand.
package struct BackupNote: Sendable, Hashable, Codable {
    static let fileName = "backup.json"
    /// Of the layout of the folder.
    static let format = 1

    var format = BackupNote.format
    /// The version of the program that made it.
    var version: String
    /// The package that it is of.
    var document: String

    /// Nil: there is none, or none that can be understood.
    init?(in folder: String) {
        guard let data = FileManager.default.contents(atPath: "\(folder)/\(Self.fileName)"),
            let note = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = note
    }

    init(version: String, document: String) {
        self.version = version
        self.document = document
    }

    func write(in folder: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var data = try encoder.encode(self)
        data.append(UInt8(ascii: "\n"))
        try data.write(to: URL(fileURLWithPath: "\(folder)/\(Self.fileName)"))
    }

    /// Whether a version of the program is one that came after another: numbers, part by part.
    static func isNewer(_ version: String, than other: String) -> Bool {
        func numbers(_ text: String) -> [Int] { text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map { Int($0) ?? 0 } }
        let (left, right) = (numbers(version), numbers(other)), count = max(left.count, right.count)
        for index in 0..<count {
            let (mine, theirs) = (index < left.count ? left[index] : 0, index < right.count ? right[index] : 0)
            if mine != theirs { return mine > theirs }
        }
        return false
    }
}
