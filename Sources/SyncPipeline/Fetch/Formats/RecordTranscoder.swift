import JSONReader
import SyncConfiguration

/// Hands a page on as a JSON list of its records, while it arrives in a format that is no JSON document, or as a document whose records are
/// lists: what comes after it knows one format only, and records that are objects.
///
/// Where the page ends inside of a record, or a record could be taken for several, nothing of the page counts. Whether a record is good JSON is for its
/// reader to say. A page without anything in it stays so. A transcoder is for one page and belongs to one thread at a time.
final class RecordTranscoder {
    /// What the pieces are handed to; it throws to stop.
    typealias Sink = (UnsafeRawBufferPointer) throws -> Void

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Below this size a high ratio means nothing.
    private static let ratioThreshold = 1 << 20

    /// What the bytes go through, one behind the other.
    private let formats: [any RecordFormat]
    /// What the records come from.
    private let last: any RecordFormat
    private let maxRatio: Int
    /// The first bytes, until it is known whether they are a byte order mark; nil: it is.
    private var head: [UInt8]? = []
    private var taken = 0
    private var handedOn = 0

    /// Nil for a page whose records are what they are to be.
    ///
    /// - Parameters:
    ///   - columns: what names the values of records that are lists; nil: they are none.
    ///   - records: where these are.
    ///   - limits: those of the page.
    ///   - maxRatio: `http.max_ratio`: names of columns stand in every record, which a small file may make a large one by.
    init?(
        _ format: ContentFormat, columns: ColumnNames? = nil, records: JSONPath = .root, limits: JSONReaderLimits = JSONReaderLimits(),
        maxRatio: Int
    ) {
        var formats: [any RecordFormat] = []
        switch format {
        case .json: break
        case .ndjson: formats.append(JSONLines(.lines))
        case .jsonSequence: formats.append(JSONLines(.sequence))
        case .csv(let csv): formats.append(CSVRows(csv))
        }
        if let columns { formats.append(ColumnRows(columns, at: records, limits: limits)) }
        guard let last = formats.last else { return nil }
        self.formats = formats
        self.last = last
        self.maxRatio = maxRatio
    }

    /// Where the records stand that were handed on.
    var lines: RecordLines { last.lines }

    /// What the page says of its columns; nil: it does not, or has not yet.
    var header: RecordHeader? { last.header }

    /// Takes the next bytes, and hands on what they hold.
    /// - Throws: `FormatError`; `FetchError` of the class `tooLarge`; what `sink` throws. Nothing may be taken afterwards.
    func take(_ bytes: UnsafeRawBufferPointer, to sink: Sink) throws {
        taken += bytes.count
        guard head != nil else { return try take(bytes, from: 0, to: sink) }
        head?.append(contentsOf: bytes)
        if let head, head.count >= Self.byteOrderMark.count { try begin(head, to: sink) }
    }

    /// Says that nothing more comes. Throws as `take` does.
    func finish(to sink: Sink) throws {
        if let head { try begin(head, to: sink) }
        for (number, format) in formats.enumerated() { try format.finish { try take($0, from: number + 1, to: sink) } }
    }

    /// Has what comes out of one format go into the next.
    private func take(_ bytes: UnsafeRawBufferPointer, from number: Int, to sink: Sink) throws {
        guard number < formats.count else { return try hand(bytes, to: sink) }
        try formats[number].take(bytes) { try take($0, from: number + 1, to: sink) }
    }

    /// A mark is for the reader, who knows what to make of it.
    private func begin(_ head: [UInt8], to sink: Sink) throws {
        self.head = nil
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) {
            throw FormatError("UTF-16 where UTF-8 was expected", line: nil)
        }
        let mark = head.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        try head.withUnsafeBytes { bytes in
            if mark > 0 { try hand(UnsafeRawBufferPointer(rebasing: bytes[..<mark]), to: sink) }
            try take(UnsafeRawBufferPointer(rebasing: bytes[mark...]), from: 0, to: sink)
        }
    }

    private func hand(_ bytes: UnsafeRawBufferPointer, to sink: Sink) throws {
        handedOn += bytes.count
        // Divided, because the product could overflow.
        if handedOn > Self.ratioThreshold, handedOn / max(taken, 1) >= maxRatio, handedOn > maxRatio * taken {
            throw FetchError(.tooLarge(.ratio), detail: "\(handedOn) bytes of JSON from \(taken), \(maxRatio) to 1 allowed")
        }
        try sink(bytes)
    }
}

/// How records are written, one behind the other.
protocol RecordFormat: AnyObject {
    /// Where the records stand that were handed on.
    var lines: RecordLines { get }
    /// What is said of the columns; nil: nothing is, or not yet.
    var header: RecordHeader? { get }
    /// Takes the next bytes, and hands on the text of a JSON list. Throws `FormatError`, and what `sink` throws.
    func take(_ bytes: UnsafeRawBufferPointer, to sink: RecordTranscoder.Sink) throws
    /// Says that nothing more comes. Throws as `take` does.
    func finish(to sink: RecordTranscoder.Sink) throws
}
