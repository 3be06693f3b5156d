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
