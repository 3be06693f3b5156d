import CSimdJSON

/// The decoded text of a JSON string: valid UTF-8 inside the page's buffers, only until the closure that received it returns.
public struct JSONString {
    private let page: JSONPageReference
    private let start: Int
    private let isInScratch: Bool
    /// Bytes of UTF-8.
    public let utf8Count: Int

    @inline(__always)
    init(_ cell: csj_cell, in page: JSONPageReference) {
        self.page = page
        start = Int(cell.payload)
        isInScratch = cell.flags & UInt8(CSJ_IN_SCRATCH) != 0
        utf8Count = Int(cell.count)
    }

    /// Calls the closure with the UTF-8 bytes, which must not be kept.
    @inline(__always)
    public func withUTF8<Result, Failure: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result) throws(Failure) -> Result {
        let view = page.view
        guard utf8Count > 0 else { return try body(UnsafeBufferPointer(start: nil, count: 0)) }
        let base: UnsafePointer<UInt8> = isInScratch ? view.pointee.scratch : view.pointee.body
        return try body(UnsafeBufferPointer(start: base + start, count: utf8Count))
    }

    /// Whether the decoded text has no characters.
    public var isEmpty: Bool { utf8Count == 0 }

    /// Whether the bytes are those of the text; nothing is normalised.
    public static func == (string: JSONString, text: String) -> Bool {
        var text = text
        return string.withUTF8 { bytes in text.withUTF8 { bytes.elementsEqual($0) } }
    }
}

extension JSONString: CustomStringConvertible {
    /// The decoded text, copied: content of the document, so not for every log.
    public var description: String { String(self) }
}

extension String {
    /// A copy that stays.
    public init(_ string: JSONString) {
        self = string.withUTF8 { String(decoding: $0, as: UTF8.self) }
    }
}
