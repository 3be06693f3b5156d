import SyncConfiguration

/// Rows of cells as RFC 4180 has them: each becomes an object that has the texts of its cells under the names of their columns.
///
/// A row that has more or fewer cells than there are columns becomes a text, which is no record: so it is set aside, and shown as it was, and costs no other
/// one. Empty lines are no rows. A column without a name is left out.
final class CSVRows: RecordFormat {
    private enum Place {
        /// Where no cell has begun.
        case start
        /// In a cell without quotes.
        case plain
        case quoted
        /// Behind a quote in a quoted cell: it is the cell's end, or the first of two.
        case quote
    }

    /// More columns than any sheet has; of a longer row no more is shown.
    private static let mostCells = 16_384
    /// So much of a header is in a message, in bytes.
    private static let longestHeader = 8192
    /// So much is handed on at once.
    private static let pieceSize = 1 << 16

    private let csv: CSVFormat
    private(set) var lines = RecordLines(.line, meaningOfOthers: "a row that has not as many cells as there are columns")
    private(set) var header: RecordHeader?
    /// What stands before each cell's value, a JSON key; of a column without a name nothing. Nil until the header is read.
    private var keys: [[UInt8]?]?
    private var place = Place.start
    /// Whether a row has just ended with CR: LF belongs to it.
    private var isAfterReturn = false
    /// The line that is read, the one in which the row begins, and the one in which its last quoted cell does.
    private var line = 1
    private var rowLine = 1
    private var quoteLine = 1
    /// The texts of the row's cells, one behind the other, and where each of them ends.
    private var text: [UInt8] = []
    private var ends: [Int] = []
    /// How many cells the row has, also where no more are kept.
    private var cellCount = 0
    /// Whether a cell of the row is quoted: a line with one empty cell is empty only if it is not.
    private var hasQuote = false
    private var isEmpty = true
    private var output: [UInt8] = []

    init(_ csv: CSVFormat) {
        self.csv = csv
        if !csv.hasHeader { keys = (csv.columns ?? []).map { Self.key(of: Array($0.utf8)) } }
    }

    // MARK: Bytes

    func take(_ bytes: UnsafeRawBufferPointer, to sink: RecordTranscoder.Sink) throws {
        var next = 0
        while next < bytes.count {
            let byte = bytes[next]
            switch place {
            case .quoted:
                let end = endOfQuoted(bytes, next)
                keep(bytes, next..<end)
                next = end
                if next < bytes.count {
                    place = .quote
                    next += 1
                }
                continue
            case .quote where byte == csv.quote:
                keep(bytes, next..<next + 1)
                place = .quoted
            case .start where byte == csv.quote:
                (place, hasQuote, quoteLine, isAfterReturn) = (.quoted, true, line, false)
            case .start where byte == UInt8(ascii: "\n") && isAfterReturn:
                isAfterReturn = false
            case .start, .plain, .quote:
                isAfterReturn = false
                switch byte {
                case csv.delimiter:
                    try endCell()
                case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                    try endRow(to: sink)
                    line += 1
                    (rowLine, isAfterReturn) = (line, byte == UInt8(ascii: "\r"))
                default:
                    guard place != .quote else { throw error("something follows a quoted cell; a quote inside of one is written twice") }
                    let end = endOfPlain(bytes, next)
                    keep(bytes, next..<end)
                    (place, next) = (.plain, end)
                    continue
                }
            }
            next += 1
        }
        try handOn(to: sink)
    }

    func finish(to sink: RecordTranscoder.Sink) throws {
        guard place != .quoted else { throw FormatError("a quoted cell that begins here does not end", line: quoteLine) }
        try endRow(to: sink)
        if isEmpty {
            // A header without rows is a list without records; a body without either is nothing.
            guard csv.hasHeader, keys != nil else { return }
            output.append(UInt8(ascii: "["))
        }
        output.append(UInt8(ascii: "]"))
        try handOn(to: sink)
    }

    private func endOfPlain(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != csv.delimiter, bytes[end] != UInt8(ascii: "\n"), bytes[end] != UInt8(ascii: "\r") { end += 1 }
        return end
    }

    private func endOfQuoted(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != csv.quote {
            if bytes[end] == UInt8(ascii: "\n") { line += 1 }
            end += 1
        }
        return end
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        if cellCount < Self.mostCells { text.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range])) }
    }

    // MARK: Rows

    private func endCell() throws {
        if cellCount < Self.mostCells { ends.append(text.count) }
        cellCount += 1
        place = .start
        guard keys != nil || cellCount <= Self.mostCells else { throw error("the header has more than \(Self.mostCells) columns") }
    }

    private func endRow(to sink: RecordTranscoder.Sink) throws {
        let isNothing = cellCount == 0 && text.isEmpty && !hasQuote
        if !isNothing {
            try endCell()
            if let keys { write(keys) } else { try takeHeader() }
        }
        text.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        (place, cellCount, hasQuote) = (.start, 0, false)
        if output.count >= Self.pieceSize { try handOn(to: sink) }
    }

    private var cells: [ArraySlice<UInt8>] { zip([0] + ends, ends).map { text[$0..<$1] } }

    private func takeHeader() throws {
        let names = cells
        if let columns = csv.columns, !names.elementsEqual(columns, by: { $0.elementsEqual($1.utf8) }) {
            // More than anybody shows: secrets are taken out before it is cut off once more.
            let found = String(decoding: Array(names.joined(separator: [csv.delimiter])).prefix(Self.longestHeader), as: UTF8.self)
            throw error("csv.columns says “\(columns.joined(separator: ", "))”, and the header says “\(found)”")
        }
        keys = names.map { Self.key(of: Array($0)) }
        header = RecordHeader(names: names.map { String(decoding: $0, as: UTF8.self) }, line: rowLine)
    }

    private func write(_ keys: [[UInt8]?]) {
        output.append(UInt8(ascii: isEmpty ? "[" : ","))
        isEmpty = false
        lines.append(rowLine)
        guard cellCount == keys.count, ends.count == cellCount else { return Self.append(written[...], to: &output) }
        var start = 0, separator = UInt8(ascii: "{")
        for (key, end) in zip(keys, ends) {
            defer { start = end }
            guard let key else { continue }
            output.append(separator)
            separator = UInt8(ascii: ",")
            output.append(contentsOf: key)
            if start == end, csv.empty == .null {
                output.append(contentsOf: "null".utf8)
            } else {
                Self.append(text[start..<end], to: &output)
            }
        }
        if separator == UInt8(ascii: "{") { output.append(separator) }
        output.append(UInt8(ascii: "}"))
    }

    /// The row as it may stand in a file.
    private var written: [UInt8] {
        var row: [UInt8] = []
        for (number, cell) in cells.enumerated() {
            if number > 0 { row.append(csv.delimiter) }
            let isPlain = cell.allSatisfy { $0 != csv.delimiter && $0 != csv.quote && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            guard let quote = csv.quote, !isPlain else {
                row.append(contentsOf: cell)
                continue
            }
            row.append(quote)
            for byte in cell { row.append(contentsOf: repeatElement(byte, count: byte == quote ? 2 : 1)) }
            row.append(quote)
        }
        return row
    }

    private func handOn(to sink: RecordTranscoder.Sink) throws {
        if output.isEmpty { return }
        try output.withUnsafeBytes { try sink($0) }
        output.removeAll(keepingCapacity: true)
    }

    private func error(_ message: String) -> FormatError { FormatError(message, line: line) }

    // MARK: JSON

    /// What stands before a value. Nil if the column has no name.
    static func key(of name: [UInt8]) -> [UInt8]? {
        if name.isEmpty { return nil }
        var key: [UInt8] = []
        append(name[...], to: &key)
        key.append(UInt8(ascii: ":"))
        return key
    }

    /// Writes a JSON string (RFC 8259, 7). What is no UTF-8 stays so, for the reader to say.
    private static func append(_ text: ArraySlice<UInt8>, to json: inout [UInt8]) {
        json.append(UInt8(ascii: "\""))
        var start = text.startIndex
        for next in text.indices where text[next] < 0x20 || text[next] == UInt8(ascii: "\"") || text[next] == UInt8(ascii: "\\") {
            json.append(contentsOf: text[start..<next])
            start = next + 1
            json.append(UInt8(ascii: "\\"))
            switch text[next] {
            case UInt8(ascii: "\n"): json.append(UInt8(ascii: "n"))
            case UInt8(ascii: "\r"): json.append(UInt8(ascii: "r"))
            case UInt8(ascii: "\t"): json.append(UInt8(ascii: "t"))
            case let control where control < 0x20:
                json.append(contentsOf: "u00".utf8)
                json.append(control < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
                let digit = control & 15
                json.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            case let plain: json.append(plain)
            }
        }
        json.append(contentsOf: text[start...])
        json.append(UInt8(ascii: "\""))
    }
}
