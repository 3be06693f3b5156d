import JSONReader

/// In which line each record of a page begins, or which one it is.
struct RecordLines: Sendable {
    /// What is counted.
    enum Unit: String, Sendable, Hashable {
        case line
        /// The texts of a sequence, which may have any number of lines.
        case text
        /// The elements of the page's list, where it is a document.
        case record
    }

    let unit: Unit
    /// What it means that a record is no object; nil: just that.
    private let meaningOfOthers: String?
    /// Records whose line is not the one after that of the record before them: most records take a line each.
    private var jumps: [(record: Int, line: Int)] = []
    private var count = 0
    private var last = 0

    init(_ unit: Unit, meaningOfOthers: String? = nil) {
        self.unit = unit
        self.meaningOfOthers = meaningOfOthers
    }

    /// The next record begins in this line, counted from 1.
    mutating func append(_ line: Int) {
        if line != last + 1 { jumps.append((count, line)) }
        last = line
        count += 1
    }

    /// The line of a record, counted from 0; nil if there is no such record.
    func line(of record: Int) -> Int? {
        guard record >= 0, record < count else { return nil }
        var low = 0, high = jumps.count
        while low < high {
            let middle = (low + high) / 2
            if jumps[middle].record <= record { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return record + 1 }
        return jumps[low - 1].line + record - jumps[low - 1].record
    }

    /// What is wrong with a record, counted from 0, and where: `line 7: …`.
    func words(_ problem: JSONRecordProblem, of record: Int) -> String {
        let reason = problem.kind == .notAnObject ? meaningOfOthers ?? problem.reason : problem.reason
        return line(of: record).map { "\(unit.rawValue) \($0): \(reason)" } ?? reason
    }
}

/// A page that is not what its format says: nothing of it counts.
struct FormatError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    let message: String
    /// Counted from 1; nil: nowhere in particular.
    let line: Int?
    let unit: RecordLines.Unit

    init(_ message: String, line: Int?, unit: RecordLines.Unit = .line) {
        self.message = message
        self.line = line
        self.unit = unit
    }

    /// What the reader says of a record. Where it stands in the list is nothing that anybody could look up.
    init(_ error: JSONReaderError, at record: Int?, _ lines: RecordLines) {
        let line = record.flatMap { lines.line(of: $0) }
        let message = error.kind == .emptyBody ? "the body is empty" : error.message
        // Around a record stands what nobody has sent.
        self.init(line == nil || error.excerpt.isEmpty ? message : "\(message): \(error.excerpt)", line: line, unit: lines.unit)
    }

    /// `line 7: …`.
    var description: String { line.map { "\(unit.rawValue) \($0): \(message)" } ?? message }
}
