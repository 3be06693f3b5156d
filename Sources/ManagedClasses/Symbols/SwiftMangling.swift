/// A symbol as it grows, by the rules of Swift's compiler: what was said before is said by a letter.
///
/// Those that lend themselves to being got wrong, with their names in the compiler: words of identifiers (`ManglingUtils.h`, `mangleIdentifier`),
/// whole names and types (`mangleSubstitution`), and letters in a row that become one operator (`SubstitutionMerging`). Nothing here knows what a
/// type is; see `SwiftMangling+Types.swift`.
struct SwiftMangling {
    /// What has been said and can be said again.
    enum Part: Hashable {
        case identifier(String)
        case type(SwiftType)
        case named(SwiftNominal)
    }

    private static let mostWords = 26
    private static let mostRepetitions = 2048

    private(set) var text: [UInt8] = []
    private var words: [[UInt8]] = []
    private var parts: [Part: Int] = [:]
    /// The last letters that others can be joined to.
    private var run = (start: 0, length: 0, count: 0, isStandard: false)

    /// The symbol, with the mark of Swift's symbols before it.
    var symbol: String { "$s" + String(decoding: text, as: UTF8.self) }

    mutating func append(_ operators: String) { text += Array(operators.utf8) }

    // MARK: What was said before

    /// Says a part again if it was said; otherwise the caller says it, and then remembers it.
    mutating func repeats(_ part: Part) -> Bool {
        guard let number = parts[part] else { return false }
        if number >= Self.mostWords {
            append("A")
            append(number == Self.mostWords ? "_" : "\(number - Self.mostWords - 1)_")
        } else {
            appendLetter(UInt8(ascii: "A") + UInt8(number), isStandard: false)
        }
        return true
    }

    mutating func remember(_ part: Part) { parts[part] = parts.count }

    /// A type of the standard library that has a letter.
    mutating func appendStandard(_ letter: Character) {
        if let letter = letter.asciiValue { appendLetter(letter, isStandard: true) }
    }

    private mutating func appendLetter(_ letter: UInt8, isStandard: Bool) {
        let follows = run.count > 0 && text.count == run.start + run.length && run.isStandard == isStandard
        if follows, run.count < Self.mostRepetitions, let last = text.last {
            if last == letter {
                // "AB" and "B": "A2B".
                run.count += 1
                text.removeSubrange(run.start...)
                append("\(run.count)")
                text.append(letter)
                run.length = text.count - run.start
                return
            }
            if !isStandard {
                // "AB" and "C": "AbC".
                text[text.count - 1] = last | 0x20
                run = (start: text.count, length: 1, count: 1, isStandard: false)
                text.append(letter)
                return
            }
        }
        append(isStandard ? "S" : "A")
        run = (start: text.count, length: 1, count: 1, isStandard: isStandard)
        text.append(letter)
    }

    // MARK: Identifiers

    /// An identifier, or the letter by which it was remembered.
    mutating func appendIdentifier(_ identifier: String) {
        if repeats(.identifier(identifier)) { return }
        let bytes = Array(identifier.utf8)
        if Punycode.isNeeded(for: bytes) {
            let encoded = Punycode.encode(identifier)
            append("00\(encoded.count)")
            if let first = encoded.first, first == UInt8(ascii: "_") || Self.isDigit(first) { append("_") }
            text += encoded
        } else {
            appendWords(of: bytes)
        }
        remember(.identifier(identifier))
    }

    private mutating func appendWords(of name: [UInt8]) {
        var found: [(start: Int, word: Int)] = []
        var start: Int?
        for position in 0...name.count {
            let byte = position < name.count ? name[position] : 0
            if let begun = start, Self.endsWord(byte, after: name[position - 1]) {
                let word = Array(name[begun..<position])
                if let known = words.firstIndex(of: word) {
                    found.append((begun, known))
                } else if word.count >= 2, words.count < Self.mostWords {
                    words.append(word)
                }
                start = nil
            }
            if start == nil, byte != 0, byte != UInt8(ascii: "_"), !Self.isDigit(byte) { start = position }
        }
        if found.isEmpty { return appendPiece(name[...]) }
        append("0")
        var position = 0
        for (index, (start, word)) in found.enumerated() {
            if position < start { appendPiece(name[position..<start]) }
            position = start + words[word].count
            let isLast = index == found.count - 1
            text.append(UInt8(ascii: isLast ? "A" : "a") + UInt8(word))
            if isLast, position == name.count { append("0") }
        }
        if position < name.count { appendPiece(name[position...]) }
    }

    private mutating func appendPiece(_ piece: ArraySlice<UInt8>) {
        append("\(piece.count)")
        // A number would be read as part of the count.
        if let first = piece.first, Self.isDigit(first) {
            append("X")
            text += piece.dropFirst()
        } else {
            text += piece
        }
    }

    private static func endsWord(_ byte: UInt8, after previous: UInt8) -> Bool {
        byte == 0 || byte == UInt8(ascii: "_") || (!isUpper(previous) && isUpper(byte))
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
