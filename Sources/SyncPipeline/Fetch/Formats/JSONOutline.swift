import JSONReader

/// Where the values of a JSON text stand, which is known to be good: nothing is checked here, and nothing is read.
struct JSONOutline {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The outermost value.
    var root: Range<Int> { value(at: 0) }

    /// Whether a value begins with this character: an object, a list, a text.
    func begins(_ value: Range<Int>, with character: Unicode.Scalar) -> Bool {
        !value.isEmpty && bytes[value.lowerBound] == UInt8(ascii: character)
    }

    /// The value to which a path without wildcards leads; nil: there is none. Of two members of one name the first is meant.
    func value(at path: some Collection<JSONPath.Segment>, of outer: Range<Int>) -> Range<Int>? {
        var found = outer
        for segment in path {
            let inner: Range<Int>?
            switch segment {
            case .key(let name): inner = member(name, of: found)
            case .index(let index) where begins(found, with: "["):
                var elements = Elements(found, of: self)
                var element = elements.next()
                for _ in 0..<index where element != nil { element = elements.next() }
                inner = element
            case .index(let index): inner = member("\(index)", of: found)
            case .each: inner = nil
            }
            guard let inner else { return nil }
            found = inner
        }
        return found
    }

    /// A name that is written with escapes is not found.
    private func member(_ name: String, of object: Range<Int>) -> Range<Int>? {
        guard begins(object, with: "{") else { return nil }
        var elements = Elements(object, of: self)
        while let key = elements.next(), let value = elements.next() {
            if bytes[key].dropFirst().dropLast().elementsEqual(name.utf8) { return value }
        }
        return nil
    }

    /// The elements of a list, or the names and values of an object by turns.
    struct Elements {
        private let outline: JSONOutline
        private var position: Int

        init(_ container: Range<Int>, of outline: JSONOutline) {
            self.outline = outline
            position = container.lowerBound + 1
        }

        mutating func next() -> Range<Int>? {
            let value = outline.value(at: position)
            // What closes the container is no value.
            guard !value.isEmpty else { return nil }
            position = value.upperBound
            return value
        }
    }

    /// How many elements a list has.
    func count(of list: Range<Int>) -> Int {
        var elements = Elements(list, of: self), count = 0
        while elements.next() != nil { count += 1 }
        return count
    }

    /// The value behind a position, and the separators there; empty where a container or the text ends.
    private func value(at position: Int) -> Range<Int> {
        var start = position
        while start < bytes.count, Self.isBetween(bytes[start]) { start += 1 }
        guard start < bytes.count else { return start..<start }
        switch bytes[start] {
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return start..<start
        case UInt8(ascii: "\""): return start..<endOfText(start)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return start..<endOfContainer(start)
        default:
            var end = start
            while end < bytes.count, !Self.isBetween(bytes[end]), bytes[end] != UInt8(ascii: "}"), bytes[end] != UInt8(ascii: "]") { end += 1 }
            return start..<end
        }
    }

    private func endOfText(_ start: Int) -> Int {
        var next = start + 1
        while next < bytes.count, bytes[next] != UInt8(ascii: "\"") { next += bytes[next] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(next + 1, bytes.count)
    }

    private func endOfContainer(_ start: Int) -> Int {
        var depth = 0, next = start
        while next < bytes.count {
            switch bytes[next] {
            case UInt8(ascii: "\""):
                next = endOfText(next)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            next += 1
            if depth == 0 { break }
        }
        return next
    }

    /// Blanks, commas and colons.
    private static func isBetween(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: ","), UInt8(ascii: ":"): true
        default: false
        }
    }
}
