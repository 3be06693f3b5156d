/// A place in a body, for people.
public struct JSONLocation: Sendable, Hashable, CustomStringConvertible {
    /// Bytes before it; in the body as it was given, a byte order mark included.
    public let byteOffset: Int
    /// From 1; a line ends with LF.
    public let line: Int
    /// Characters (Unicode scalars) from the start of the line, from 1.
    public let column: Int

    init(offset: Int, in body: UnsafeBufferPointer<UInt8>) {
        let offset = min(max(offset, 0), body.count)
        var line = 1
        var start = 0
        for position in 0..<offset where body[position] == UInt8(ascii: "\n") {
            line += 1
            start = position + 1
        }
        // Every byte but the continuation bytes starts a character.
        let column = body[start..<offset].reduce(into: 1) { count, byte in if byte & 0xC0 != 0x80 { count += 1 } }
        self.byteOffset = offset
        self.line = line
        self.column = column
    }

    /// `line 3, column 17 (byte 204)`.
    public var description: String { "line \(line), column \(column) (byte \(byteOffset))" }
}
