import CSimdJSON

/// The JSON text of a value as it stands in the body (UTF-8, checked), only until the closure which got it returns.
public struct JSONRawValue {
    private let page: JSONPageReference
    /// Where the text starts in the body.
    public let byteOffset: Int
    /// Bytes of UTF-8; never 0.
    public let utf8Count: Int

    @inline(__always)
    init(_ cell: csj_cell, in page: JSONPageReference) {
        self.init(page: page, byteOffset: Int(cell.offset), utf8Count: Int(cell.length))
    }

    init(page: JSONPageReference, byteOffset: Int, utf8Count: Int) {
        self.page = page
        self.byteOffset = byteOffset
        self.utf8Count = utf8Count
    }

    /// Calls the closure with the bytes of the text, which must not be kept.
    @inline(__always)
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(start: page.view.pointee.body + byteOffset, count: utf8Count))
    }

    /// Whether the text is `null`.
    public var isNull: Bool {
        utf8Count == 4 && withBytes { $0[0] == UInt8(ascii: "n") }
    }

    /// The first byte tells the kind of value: `{ [ " t f n -` or a digit.
    public var firstByte: UInt8 {
        withBytes { $0[0] }
    }

    /// XXH3-128 of the text.
    public var hash: JSONHash {
        withBytes { JSONHash(of: UnsafeRawBufferPointer($0)) }
    }

    /// A copy that stays.
    public var bytes: [UInt8] { withBytes { Array($0) } }
}

extension JSONRawValue: CustomStringConvertible {
    public var description: String { String(self) }
}

extension String {
    /// A copy of the JSON text that stays.
    public init(_ value: JSONRawValue) {
        self = value.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
