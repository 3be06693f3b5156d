import CSimdJSON
import JSONPaths

/// Cuts a page into its records while its bytes arrive, in chunks of any size, without reading what is in them.
///
/// A record's bytes are handed out with their hash, in document order, so that one whose bytes are known need not be read. What is around the
/// records is kept: ``finish()`` gives it as a ``PageEnvelope``.
///
/// **A page is good exactly when nothing here throws and every record is accepted by the reader**, as an element of a list under
/// ``recordLimits``; its records and their order are then those of the whole page read at once. A record need not be read again if the same bytes
/// have been read before, under the same plan, limits and policies and as deep in their page, without an error and without a
/// ``JSONRecord/problem``. Until then, nothing of a page counts.
///
/// Where that cannot be promised, the cutter is ``Status/undecided``: no record is cut, and the envelope is the whole page with its records.
/// That is so if there is no list at the path (an object is the only record), if the path has a wildcard, so that there may be several lists, if the
/// envelope's fields depend on what is in the list, or if somebody wants the whole page, to read other lists of it as well.
///
/// The memory needed is that of what is around the records and of one record; if undecided, of the whole page. A cutter is for one page and belongs to one
/// thread at a time.
package final class RecordCutter {
    /// A record as it stands in the page.
    package struct Record {
        /// Valid only until the closure that got the record returns.
        package let bytes: UnsafeRawBufferPointer
        /// The lower half of the bytes' ``JSONHash``.
        package let hash: UInt64
        /// Where it starts in the page.
        package let byteOffset: Int
    }

    /// How far the cutter is.
    package enum Status: Sendable, Hashable {
        /// The list has not begun.
        case looking
        /// The page so far ends inside of the list.
        case inList
        /// The list has ended.
        case cut
        /// Nothing is cut; it stays so to the end.
        case undecided
    }

    /// What brackets are found with; makes no difference to what is cut.
    enum Instructions: Int, CaseIterable {
        case best, plain, sse2, avx2

        var isSupported: Bool { csj_cutter_supports(Int32(rawValue)) != 0 }
    }

    /// Under these limits a cut record is read, as an element of a list at the root: those of the page, less the levels around the record there. How many
    /// records there may be is checked when they are cut.
    package let recordLimits: JSONReaderLimits
    /// Records cut so far.
    package private(set) var recordCount = 0

    private let cutter: OpaquePointer
    private let path: JSONPath
    private let envelope: JSONFieldPlan?
    private let limits: JSONReaderLimits
    /// Bytes of the chunks before.
    private var consumed = 0
    /// Not between two chunks: a closure has thrown, or calls the cutter itself.
    private var isInside = false

    /// A cutter for one page.
    ///
    /// - Parameters:
    ///   - records: where the list is, as for the reader.
    ///   - envelope: what will be wanted of what is around the list. Traps if it has no fields yet.
    ///   - keepsWhole: whether nothing is cut, wherever the list is.
    package convenience init(
        records: JSONPath = .root, envelope: JSONFieldPlan? = nil, limits: JSONReaderLimits = JSONReaderLimits(), keepsWhole: Bool = false
    ) {
        self.init(records: records, envelope: envelope, limits: limits, keepsWhole: keepsWhole, instructions: .best)
    }

    init(records: JSONPath, envelope: JSONFieldPlan?, limits: JSONReaderLimits, keepsWhole: Bool = false, instructions: Instructions) {
        let made = records.withSegments { segments in
            var cutting = csj_cutting()
            cutting.path = segments.baseAddress
            cutting.path_length = segments.count
            cutting.max_records = UInt64(clamping: limits.maxRecordsPerPage)
            cutting.instructions = Int32(instructions.rawValue)
            return csj_cutter_create(&cutting)
        }
        guard let made else { preconditionFailure("RecordCutter: out of memory") }
        cutter = made
        path = records
        self.envelope = envelope
        self.limits = limits
        var recordLimits = limits
        recordLimits.levelsAround = records.segments.count
        recordLimits.maxRecordsPerPage = .max
        self.recordLimits = recordLimits
        envelope?.checkComplete()
        let isBound = envelope?.fields.contains { field in
            let isPresence = if case .presence = field.capture { true } else { false }
            return field.paths.contains { $0.depends(onElementsOf: records, isPresence: isPresence) }
        }
        if keepsWhole || isBound == true { csj_cutter_pass(cutter) }
    }

    deinit {
        csj_cutter_destroy(cutter)
    }

    package var status: Status {
        switch Int(csj_cutter_status(cutter)) {
        case CSJ_CUTTER_LOOKING: .looking
        case CSJ_CUTTER_IN_LIST: .inList
        case CSJ_CUTTER_CUT: .cut
        default: .undecided
        }
    }

    /// Takes the next bytes of the page and hands out the records that end in them.
    ///
    /// - Throws: ``JSONReaderError`` if something is wrong between two records or there are too many of them; what the closure throws. Either ends the
    ///   page.
    package func cut(_ chunk: UnsafeRawBufferPointer, each: (Record) throws -> Void) throws {
        precondition(!isInside, "RecordCutter: a page was gone on with after an error, or from inside of cut")
        isInside = true
        csj_cutter_feed(cutter, chunk.baseAddress?.assumingMemoryBound(to: UInt8.self), chunk.count)
        var cut = csj_cut()
        cutting: while true {
            switch Int(csj_cutter_next(cutter, &cut)) {
            case CSJ_CUT_RECORD:
                recordCount += 1
                try each(
                    Record(
                        bytes: UnsafeRawBufferPointer(start: cut.bytes, count: cut.length), hash: cut.hash, byteOffset: Int(clamping: cut.offset)))
            case CSJ_CUT_MORE: break cutting
            default: throw failure(in: chunk)
            }
        }
        consumed += chunk.count
        isInside = false
    }

    /// At the end of the page: checks that the list has ended. Nothing may be cut afterwards.
    ///
    /// - Returns: what is around the records.
    /// - Throws: ``JSONReaderError`` if the page ends too early.
    package func finish() throws -> PageEnvelope {
        precondition(!isInside, "RecordCutter: a page was gone on with after an error, or from inside of cut")
        isInside = true
        guard csj_cutter_finish(cutter) != 0 else { throw failure(in: UnsafeRawBufferPointer(start: nil, count: 0)) }
        return PageEnvelope(self)
    }

    /// The envelope's bytes stay as long as the cutter.
    func withEnvelope<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            var length = 0
            let start = csj_cutter_envelope(cutter, &length)
            return try body(UnsafeRawBufferPointer(start: start, count: length))
        }
    }

    func read(
        _ reader: JSONRecordReader, plan: JSONFieldPlan, policies: JSONReaderPolicies, each: (JSONRecord) throws -> Void
    ) throws -> JSONPageSummary {
        var summary: JSONPageSummary
        do {
            summary = try withEnvelope { bytes in
                try reader.read(bytes: bytes, records: path, plan: plan, envelope: envelope, limits: limits, policies: policies, each: each)
            }
        } catch let error as JSONReaderError {
            throw placed(error)
        }
        guard status == .cut else { return summary }
        // Cutter and reader look for the list in the same way. If they ever did not, other records would have been handed out than those of the page.
        guard summary.recordList == .array, summary.recordCount == 0 else {
            throw JSONReaderError(
                kind: .ambiguousEnvelope, message: "the list of records is not the one that was cut", location: JSONLocation(byteOffset: 0),
                excerpt: "")
        }
        summary.recordCount = recordCount
        return summary
    }

    /// The values of the envelope's fields: the outermost value counts as what would have records.
    func values(_ reader: JSONRecordReader, policies: JSONReaderPolicies) throws -> [JSONValue] {
        try withEnvelope { bytes in
            try reader.read(bytes: bytes, plan: JSONFieldPlan([]), envelope: envelope, limits: limits, policies: policies) { _ in }.envelope
        }
    }

    /// Another list of a page of which nothing was cut.
    func read(
        _ reader: JSONRecordReader, list: JSONPath, plan: JSONFieldPlan, policies: JSONReaderPolicies, each: (JSONRecord) throws -> Void
    ) throws -> JSONPageSummary {
        precondition(status != .cut, "RecordCutter: another list is wanted of a page that was cut")
        return try withEnvelope { bytes in
            try reader.read(bytes: bytes, records: list, plan: plan, limits: limits, policies: policies, each: each)
        }
    }

    private func failure(in chunk: UnsafeRawBufferPointer) -> JSONReaderError {
        var offset: UInt64 = 0
        let code = csj_cutter_failure(cutter, &offset)
        let page = JSONPage(whole: chunk.bindMemory(to: UInt8.self), limits: limits, policies: JSONReaderPolicies())
        return page.error(code: Int(code), offset: Int(clamping: offset) - consumed - page.markLength).moved(by: consumed)
    }

    /// An error of the envelope, at its place in the page.
    private func placed(_ error: JSONReaderError) -> JSONReaderError {
        var start: UInt64 = 0
        var end: UInt64 = 0
        csj_cutter_left_out(cutter, &start, &end)
        return error.location.byteOffset < Int(start) ? error : error.moved(by: Int(clamping: end - start))
    }
}
