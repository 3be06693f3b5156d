/// What stands in the way, where, and what to do; printed as compilers do, so that editors and builds find the line.
package struct ClassesComplaint: Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let line: Int
    package let column: Int
    package let message: String

    package init(path: String, line: Int, column: Int = 1, _ message: String) {
        self.path = path
        self.line = line
        self.column = column
        self.message = message
    }

    init(_ place: ScannedSource.Place, _ message: String) {
        self.init(path: place.file, line: place.line, column: place.column, message)
    }

    package var description: String { "\(path):\(line):\(column): error: \(message)" }
}

/// Why nothing was generated.
package struct ClassesComplaints: Error, CustomStringConvertible {
    /// One for each place.
    package let all: [ClassesComplaint]

    /// One line each.
    package var description: String { all.map(\.description).joined(separator: "\n") }
}
