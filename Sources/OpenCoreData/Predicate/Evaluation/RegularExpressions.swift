import CSwiftRuntime
import Foundation
import Synchronization

/// The patterns of `MATCHES`, compiled once each.
///
/// ICU is asked itself, and not through Foundation: it knows whether a pattern covers a whole string without anything being written around the
/// pattern, out of which it could break, and it stops after a number of steps.
package enum RegularExpressions {
    private struct Key: Hashable {
        let pattern: String
        let ignoresCase: Bool
    }

    /// The longest pattern, in UTF-16 units: what a pattern has to remember for each step grows with it.
    static let longest = 32_768

    // Enough for the predicates of a program; patterns that come from data must not fill the memory.
    private static let capacity = 128
    private static let compiled = Mutex<[Key: CompiledPattern?]>([:])

    /// Whether the pattern, an ICU regular expression, covers the whole string.
    ///
    /// - Throws: for a pattern that is none, and for one that takes more than a million steps and a hundred for each character of the string.
    package static func wholeMatch(
        _ string: String, pattern: String, options: NSComparisonPredicate.Options
    ) throws(PredicateEvaluationError) -> Bool {
        var string = string
        var folded = pattern
        if options.contains(.diacriticInsensitive) {
            string = StringFolding.fold(string, .diacriticInsensitive)
            folded = StringFolding.fold(pattern, .diacriticInsensitive)
        }
        guard let expression = expression(folded, ignoresCase: options.contains(.caseInsensitive)) else { throw .malformedPattern(pattern) }
        guard let answer = expression.covers(string) else { throw .costlyPattern(pattern) }
        return answer
    }

    /// Whether the text is a regular expression at all.
    package static func isValid(_ pattern: String) -> Bool {
        expression(pattern, ignoresCase: false) != nil
    }

    private static func expression(_ pattern: String, ignoresCase: Bool) -> CompiledPattern? {
        let key = Key(pattern: pattern, ignoresCase: ignoresCase)
        return compiled.withLock { compiled in
            if let known = compiled[key] { return known }
            if compiled.count >= capacity { compiled.removeAll() }
            let expression = CompiledPattern(pattern, ignoresCase: ignoresCase)
            compiled[key] = .some(expression)
            return expression
        }
    }
}

/// A regular expression of ICU's, and the matchers of it that nobody uses just now.
// Unchecked: nobody changes what was compiled, of which ICU lets any thread make matchers; each of these is used by one thread at a time.
private final class CompiledPattern: @unchecked Sendable {
    // Unchecked: it lies in the list of the idle ones, or is used by the one who took it out.
    private struct Matcher: @unchecked Sendable {
        let expression: UnsafeMutableRawPointer
    }

    /// A matcher of longer strings is not kept.
    private static let keptLength = 10_000

    private let expression: UnsafeMutableRawPointer
    private let groupCount: Int
    private let idle = Mutex<[Matcher]>([])

    /// Nil for what is no pattern, or longer than any may be.
    init?(_ pattern: String, ignoresCase: Bool) {
        // ICU takes no empty pattern.
        let units = Array((pattern.isEmpty ? "(?:)" : pattern).utf16)
        guard units.count <= RegularExpressions.longest else { return nil }
        var status: Int32 = 0
        let flags = ignoresCase ? UInt32(ICU_REGEX_CASE_INSENSITIVE) : 0
        guard let expression = swift_uregex_open(units, Int32(units.count), flags, nil, &status) else { return nil }
        guard status <= 0 else {
            swift_uregex_close(expression)
            return nil
        }
        self.expression = expression
        groupCount = Int(swift_uregex_groupCount(expression, &status))
    }

    deinit {
        for matcher in idle.withLock({ $0 }) { swift_uregex_close(matcher.expression) }
        swift_uregex_close(expression)
    }

    /// Whether the pattern covers the whole string; nil where ICU gave up.
    func covers(_ string: String) -> Bool? {
        var status: Int32 = 0
        guard let matcher = idle.withLock({ $0.popLast() }) ?? swift_uregex_clone(expression, &status).map(Matcher.init) else { return nil }
        // One unit more, so that there is a place to point at.
        var units = Array(string.utf16)
        let count = units.count
        units.append(0)
        let answer = units.withUnsafeBufferPointer { units in
            guard let start = units.baseAddress else { return false }
            swift_uregex_setTimeLimit(matcher.expression, ticks(count), &status)
            // What it has tried and may come back to: ICU's own eight million bytes, and two hundred for each character.
            swift_uregex_setStackLimit(matcher.expression, Int32(clamping: 8_000_000 + 200 * count), &status)
            swift_uregex_setText(matcher.expression, start, Int32(clamping: count), &status)
            return swift_uregex_matches(matcher.expression, 0, &status) != 0
        }
        if status > 0 || count > Self.keptLength {
            // What it may have filled with its tries is not kept.
            swift_uregex_close(matcher.expression)
        } else {
            idle.withLock { $0.append(matcher) }
        }
        return status > 0 ? nil : answer
    }

    /// How much ICU may try, in its unit, which is ten thousand steps: a million and a hundred for each character, which every pattern has that
    /// takes time in proportion to the string. A step costs more where there are many groups to remember.
    private func ticks(_ length: Int) -> Int32 {
        Int32(clamping: max(1, (100 + length / 100) * 16 / (16 + groupCount)))
    }
}

/// The pattern of `LIKE`: `*` is any run of characters, `?` is one Unicode scalar, `\` takes the meaning from the character after it.
package struct LikePattern: Sendable {
    private enum Piece: Sendable {
        case byte(UInt8)
        case one
        case run
    }

    private let pieces: [Piece]

    /// The pattern, folded already if it is to be matched against folded strings.
    package init(_ pattern: String) {
        var pieces: [Piece] = []
        pieces.reserveCapacity(pattern.utf8.count)
        var isEscaped = false
        for byte in pattern.utf8 {
            switch byte {
            case UInt8(ascii: "\\") where !isEscaped:
                isEscaped = true
                continue
            case UInt8(ascii: "*") where !isEscaped:
                if case .run? = pieces.last {} else { pieces.append(.run) }
            case UInt8(ascii: "?") where !isEscaped: pieces.append(.one)
            default: pieces.append(.byte(byte))
            }
            isEscaped = false
        }
        // A backslash at the end escapes nothing and stands for itself.
        if isEscaped { pieces.append(.byte(UInt8(ascii: "\\"))) }
        self.pieces = pieces
    }

    /// Whether the pattern covers the whole string.
    package func matches(_ string: String) -> Bool {
        var string = string
        return string.withUTF8 { match($0) }
    }

    private func match(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var place = 0
        var piece = 0
        // Where to resume when a later piece fails: the last run takes one more scalar. Earlier runs never need to be tried again.
        var resume: (piece: Int, place: Int)?
        while place < bytes.count {
            if piece < pieces.count {
                switch pieces[piece] {
                case .run:
                    resume = (piece + 1, place)
                    piece += 1
                    continue
                case .one:
                    place = Self.next(bytes, place)
                    piece += 1
                    continue
                case .byte(let byte) where byte == bytes[place]:
                    place += 1
                    piece += 1
                    continue
                case .byte: break
                }
            }
            guard let (after, start) = resume else { return false }
            place = Self.next(bytes, start)
            resume = (after, place)
            piece = after
        }
        while piece < pieces.count, case .run = pieces[piece] { piece += 1 }
        return piece == pieces.count
    }

    /// The place after the scalar at `place`.
    private static func next(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int {
        var place = place + 1
        while place < bytes.count, bytes[place] & 0xC0 == 0x80 { place += 1 }
        return place
    }
}
