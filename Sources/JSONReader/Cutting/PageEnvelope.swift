/// What is around the records of a page that was cut: the page with an empty list, or all of it if the cutter was undecided.
// Unchecked because a cutter is of one thread: it has ended, and nothing changes it any more.
package struct PageEnvelope: @unchecked Sendable {
    private let cutter: RecordCutter

    init(_ cutter: RecordCutter) { self.cutter = cutter }

    /// Whether the page's records were cut; if not, ``read(_:plan:policies:each:)`` hands them out.
    package var isCut: Bool { cutter.status == .cut }

    /// Under these limits a cut record is read: ``RecordCutter/recordLimits``.
    package var recordLimits: JSONReaderLimits { cutter.recordLimits }

    /// Identifies the bytes.
    package var hash: JSONHash { cutter.withEnvelope { JSONHash(of: $0) } }

    /// Has it read. It may be read any number of times.
    ///
    /// - Parameters:
    ///   - reader: not one that is reading now.
    ///   - plan: what is wanted of each record.
    ///   - each: gets the records if the cutter was undecided. Their places are those in the page.
    /// - Returns: what the reader says of the whole page. Of records that were cut it knows the number, and not how many of them are bad.
    /// - Throws: ``JSONReaderError``, or what the closure throws.
    package func read(
        _ reader: JSONRecordReader, plan: JSONFieldPlan, policies: JSONReaderPolicies = JSONReaderPolicies(), each: (JSONRecord) throws -> Void
    ) throws -> JSONPageSummary {
        try cutter.read(reader, plan: plan, policies: policies, each: each)
    }

    /// Reads what is wanted of what is around the records, whatever stands where these should be, and if nothing does.
    ///
    /// - Parameter reader: not one that is reading now.
    /// - Returns: the values of the envelope's fields.
    /// - Throws: ``JSONReaderError``.
    package func values(_ reader: JSONRecordReader, policies: JSONReaderPolicies = JSONReaderPolicies()) throws -> [JSONValue] {
        try cutter.values(reader, policies: policies)
    }

    /// Has another list of the page read, of a page of which nothing was cut; of one that was, it traps.
    ///
    /// - Parameters:
    ///   - list: where it is, as records are.
    ///   - each: gets what is in it, in order. The places are those in the list.
    /// - Returns: what the reader says of the list, with nothing of what is around it.
    /// - Throws: ``JSONReaderError``, or what the closure throws.
    package func read(
        _ reader: JSONRecordReader, list: JSONPath, plan: JSONFieldPlan, policies: JSONReaderPolicies = JSONReaderPolicies(),
        each: (JSONRecord) throws -> Void
    ) throws -> JSONPageSummary {
        try cutter.read(reader, list: list, plan: plan, policies: policies, each: each)
    }
}
