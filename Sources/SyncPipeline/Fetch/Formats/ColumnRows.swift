import Foundation
import JSONReader
import SyncConfiguration

/// Records that are lists of values, or that stand in columns: each becomes an object that has its values under the names of their columns. What is around
/// the records stays as it is.
///
/// The page is collected, since what names the columns may stand behind the records; `http.max_body` bounds it. The objects are handed on a piece at a time.
final class ColumnRows: RecordFormat {
    /// So much is handed on at once.
    private static let pieceSize = 1 << 16

    private let columns: ColumnNames
    private let records: JSONPath
    private let limits: JSONReaderLimits
    private(set) var lines = RecordLines(.record)
    private(set) var header: RecordHeader?
    private var body: [UInt8] = []
    private var output: [UInt8] = []

    /// - Parameters:
    ///   - records: where the list of records is, or the object that has their columns.
    ///   - limits: those of the page.
    init(_ columns: ColumnNames, at records: JSONPath, limits: JSONReaderLimits) {
        self.columns = columns
        self.records = records
        self.limits = limits
    }

    func take(_ bytes: UnsafeRawBufferPointer, to sink: RecordTranscoder.Sink) throws { body.append(contentsOf: bytes) }

    func finish(to sink: RecordTranscoder.Sink) throws {
        defer { body = [] }
        // What a record is set aside for, and bytes that are replaced, are for the reader of the page.
        var policies = JSONReaderPolicies()
        policies.invalidUTF8 = .replace
        do {
            _ = try JSONRecordReader().validate(body: body, limits: limits, policies: policies)
        } catch let error as JSONReaderError where error.kind != .emptyBody {
            throw FormatError("\(error)", line: nil)
        } catch is JSONReaderError {
            return try body.withUnsafeBytes { try sink($0) }
        }
        try body.withUnsafeBytes { bytes in
            let outline = JSONOutline(bytes)
            // Of a list that is not there, or is none, the reader says what it means.
            guard let list = outline.value(at: records.segments, of: outline.root), outline.begins(list, with: columns == .members ? "{" : "[") else {
                return try sink(bytes)
            }
            try sink(UnsafeRawBufferPointer(rebasing: bytes[..<list.lowerBound]))
            output.append(UInt8(ascii: "["))
            if columns == .members {
                try transpose(list, outline, bytes, to: sink)
            } else {
                try name(list, outline, bytes, to: sink)
            }
            output.append(UInt8(ascii: "]"))
            try handOn(to: sink)
            try sink(UnsafeRawBufferPointer(rebasing: bytes[list.upperBound...]))
        }
    }

    // MARK: Rows

    private func name(_ list: Range<Int>, _ outline: JSONOutline, _ bytes: UnsafeRawBufferPointer, to sink: RecordTranscoder.Sink) throws {
        var rows = JSONOutline.Elements(list, of: outline), number = 0
        let keys: [[UInt8]]
        switch columns {
        case .fixed(let names): keys = names.map { CSVRows.key(of: Array($0.utf8)) ?? Array("\"\":".utf8) }
        case .header:
            number = 1
            guard let first = rows.next() else { throw FormatError("there is no first record, which would name the columns", line: nil) }
            keys = try self.keys(named: first, [JSONPath.Segment](), outline, bytes, "the first record")
        case .path(let path):
            let end = path.segments.firstIndex(of: .each) ?? path.segments.endIndex
            guard let names = outline.value(at: path.segments[..<end], of: outline.root) else {
                throw FormatError("there are no names of columns at \(path)", line: nil)
            }
            keys = try self.keys(named: names, path.segments[end...].dropFirst(), outline, bytes, "\(path)")
        case .members: return
        }
        var isFirst = true
        while let row = rows.next() {
            number += 1
            guard outline.begins(row, with: "[") else { throw FormatError("it is no list of values", line: number, unit: .record) }
            let count = outline.count(of: row)
            guard count == keys.count else {
                throw FormatError("it has \(count) values, and there are \(keys.count) columns", line: number, unit: .record)
            }
            var values = JSONOutline.Elements(row, of: outline)
            try write(keys, isFirst: isFirst, bytes, number: number, to: sink) { _ in values.next() }
            isFirst = false
        }
    }

    /// The names of a list of texts, or of what is at a path in each of its elements, as they stand before values.
    private func keys(
        named list: Range<Int>, _ path: some Collection<JSONPath.Segment>, _ outline: JSONOutline, _ bytes: UnsafeRawBufferPointer, _ place: String
    ) throws -> [[UInt8]] {
        guard outline.begins(list, with: "[") else { throw FormatError("\(place) is no list of names", line: nil) }
        var elements = JSONOutline.Elements(list, of: outline), names: [Range<Int>] = []
        while let element = elements.next() {
            guard let name = outline.value(at: path, of: element), outline.begins(name, with: "\"") else {
                throw FormatError("\(place) has no text for column \(names.count + 1)", line: nil)
            }
            names.append(name)
        }
        note(names, bytes)
        return names.map { Array(bytes[$0]) + [UInt8(ascii: ":")] }
    }

    // MARK: Columns

    private func transpose(_ object: Range<Int>, _ outline: JSONOutline, _ bytes: UnsafeRawBufferPointer, to sink: RecordTranscoder.Sink) throws {
        var members = JSONOutline.Elements(object, of: outline)
        var names: [Range<Int>] = [], lists: [JSONOutline.Elements] = [], length: Int?
        while let name = members.next(), let list = members.next() {
            // What is no list is no column: a unit, a status.
            guard outline.begins(list, with: "[") else { continue }
            let count = outline.count(of: list)
            if let length, length != count, let first = names.first {
                throw FormatError("the column \(text(name, bytes)) has \(count) values, and \(text(first, bytes)) has \(length)", line: nil)
            }
            length = count
            names.append(name)
            lists.append(JSONOutline.Elements(list, of: outline))
        }
        // What an error looks like must not count as a list in which nothing is.
        guard !names.isEmpty else { throw FormatError("no member of \(records) is a list, which would be a column", line: nil) }
        note(names, bytes)
        let keys = names.map { Array(bytes[$0]) + [UInt8(ascii: ":")] }
        for number in 0..<(length ?? 0) {
            try write(keys, isFirst: number == 0, bytes, number: number + 1, to: sink) { lists[$0].next() }
        }
    }

    // MARK: Writing

    /// - Parameter value: where the next value of a column is.
    private func write(
        _ keys: [[UInt8]], isFirst: Bool, _ bytes: UnsafeRawBufferPointer, number: Int, to sink: RecordTranscoder.Sink, value: (Int) -> Range<Int>?
    ) throws {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        lines.append(number)
        output.append(UInt8(ascii: "{"))
        for (column, key) in keys.enumerated() {
            guard let place = value(column) else { break }
            if column > 0 { output.append(UInt8(ascii: ",")) }
            output.append(contentsOf: key)
            output.append(contentsOf: bytes[place])
        }
        output.append(UInt8(ascii: "}"))
        if output.count >= Self.pieceSize { try handOn(to: sink) }
    }

    private func handOn(to sink: RecordTranscoder.Sink) throws {
        if output.isEmpty { return }
        try output.withUnsafeBytes { try sink($0) }
        output.removeAll(keepingCapacity: true)
    }

    /// Remembers what the page says of its columns.
    private func note(_ names: [Range<Int>], _ bytes: UnsafeRawBufferPointer) {
        header = RecordHeader(names: names.map { text($0, bytes) }, line: nil)
    }

    /// A JSON string as a text.
    private func text(_ string: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> String {
        let token = bytes[string]
        if token.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(token)) { return text }
        return String(decoding: token.dropFirst().dropLast(), as: UTF8.self)
    }
}
