import CSimdJSON
import JSONPaths

/// Reads pages of records, one after the other: strict, in one walk over each page, with nothing allocated per value.
///
/// The body is not copied, and the reader's own memory grows not with the body but with the largest record. It keeps those buffers from page to page;
/// ``releaseBuffers()`` releases them. A reader belongs to one thread at a time.
///
/// The whole document is checked, including what no field asks for: the grammar of RFC 8259, UTF-8, escapes, the limits. Numbers are exact or say
/// that they are not (``JSONCell``). An error is thrown where it is found, which may be after records were handed out: **until `read` returns,
/// nothing of a page counts.**
public final class JSONRecordReader {
    private let reader: OpaquePointer
    private var locator: (path: JSONPath, plan: JSONLocator)?
    private var isReading = false
    private let window: Int

    /// A reader whose buffers grow when records need them. Traps when there is no memory for it.
    public convenience init() {
        self.init(window: 0)
    }

    /// With a window of another size than the usual one, which makes no difference to what is read.
    init(window: Int) {
        self.window = window
        guard let reader = csj_reader_create() else { preconditionFailure("JSONRecordReader: out of memory") }
        self.reader = reader
    }

    deinit {
        csj_reader_destroy(reader)
    }

    /// Releases the memory that the largest record so far needed.
    public func releaseBuffers() {
        precondition(!isReading, "JSONRecordReader: releaseBuffers was called from inside of read")
        csj_reader_trim(reader)
    }

    /// Walks a page and hands each record to the closure.
    ///
    /// - Parameters:
    ///   - body: the whole page.
    ///   - records: where the records are: an array, each element of which is a record; or an object, which then is the only record;
    ///     or `null`, which stands for no records. A path with wildcards may lead to any number of these, one after the other; where it ends in a
    ///     wildcard, each value that is no array is a record.
    ///   - plan: what is wanted of each record.
    ///   - envelope: what is wanted of the document around them; its values are in the summary.
    ///   - each: gets the records in document order, those with a ``JSONRecord/problem`` as well. A record is valid only until it returns.
    /// - Throws: ``JSONReaderError``, or what the closure throws.
    public func read(
        body: [UInt8], records: JSONPath = .root, plan: JSONFieldPlan, envelope: JSONFieldPlan? = nil,
        limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies(),
        each: (JSONRecord) throws -> Void
    ) throws -> JSONPageSummary {
        try body.withUnsafeBytes { bytes in
            try read(bytes: bytes, records: records, plan: plan, envelope: envelope, limits: limits, policies: policies, each: each)
        }
    }

    /// The same for bytes that are somewhere else, such as a `ByteBuffer` or a mapped file. They must not change meanwhile. Nothing is read
    /// beyond their end and nothing is copied.
    public func read(
        bytes: UnsafeRawBufferPointer, records: JSONPath = .root, plan: JSONFieldPlan, envelope: JSONFieldPlan? = nil,
        limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies(),
        each: (JSONRecord) throws -> Void
    ) throws -> JSONPageSummary {
        plan.checkComplete()
        envelope?.checkComplete()
        let page = JSONPage(whole: bytes.bindMemory(to: UInt8.self), limits: limits, policies: policies)
        let locator = locator(for: records)
        let reading = JSONReading(locator: locator, plan: plan, envelope: envelope)
        return try withExtendedLifetime(reading) {
            guard let repaired = page.repaired() else { return try walk(page, reading, path: records, each: each) }
            return try repaired.withUnsafeBufferPointer { repaired in
                let page = JSONPage(whole: repaired, limits: limits, policies: policies)
                var summary = try walk(page, reading, path: records, each: each)
                summary.wasRepaired = true
                return summary
            }
        }
    }

    /// Checks a whole document, whatever its outermost value is, as if it were one record.
    ///
    /// - Returns: what a record would be refused for, if there is such a thing.
    /// - Throws: ``JSONReaderError``.
    public func validate(
        body: [UInt8], limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies()
    ) throws -> JSONRecordProblem? {
        try body.withUnsafeBytes { try validate(bytes: $0, limits: limits, policies: policies) }
    }

    /// The same for bytes that are somewhere else.
    public func validate(
        bytes: UnsafeRawBufferPointer, limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies()
    ) throws -> JSONRecordProblem? {
        var policies = policies
        policies.emptyBody = .error
        let page = JSONPage(whole: bytes.bindMemory(to: UInt8.self), limits: limits, policies: policies)
        if let repaired = page.repaired() { return try validate(body: repaired, limits: limits, policies: policies) }
        let reading = JSONReading(locator: nil, plan: JSONRecordReader.nothing, envelope: nil)
        var problem: JSONRecordProblem?
        _ = try walk(page, reading, path: .root) { problem = $0.problem }
        return problem
    }

    /// A plan without fields.
    private static let nothing = JSONFieldPlan([])

    private func locator(for path: JSONPath) -> JSONLocator {
        if let locator, locator.path == path { return locator.plan }
        let plan = JSONLocator(path)
        locator = (path, plan)
        return plan
    }

    private func walk(
        _ page: JSONPage, _ reading: JSONReading, path: JSONPath, each: (JSONRecord) throws -> Void
    ) throws -> JSONPageSummary {
        precondition(!isReading, "JSONRecordReader: a page was opened from inside of read; use another reader")
        isReading = true
        defer {
            csj_reader_end(reader)
            isReading = false
        }
        var summary = JSONPageSummary(recordCount: 0, badRecordCount: 0, recordList: .array, envelope: [], wasRepaired: false)
        if try page.checkBeginning() == .empty {
            summary.recordList = .emptyBody
            summary.envelope = Array(repeating: .missing, count: reading.envelope?.fields.count ?? 0)
            return summary
        }
        var request = page.request(reading)
        request.window = window
        guard csj_reader_begin(reader, &request) != 0 else { throw failure(page) }
        let view = csj_reader_record_view(reader)!
        walking: while true {
            switch Int(csj_reader_step(reader)) {
            case CSJ_STEP_RECORD:
                if Int(view.pointee.problem) != CSJ_PROBLEM_NONE { summary.badRecordCount += 1 }
                try each(JSONRecord(page: JSONPageReference(view), instance: 0))
            case CSJ_STEP_END: break walking
            default: throw failure(page)
            }
        }
        summary.recordCount = Int(csj_reader_record_count(reader))
        summary.hasEmptyLists = summary.recordCount == 0 && csj_reader_walked(reader) != 0
        if reading.locator != nil { summary.recordList = try recordList(page, path) }
        if let envelope = reading.envelope {
            let record = JSONRecord(page: JSONPageReference(csj_reader_envelope_view(reader)), instance: 0)
            summary.envelope = envelope.fields.indices.map { JSONValue(record[$0], raw: record.rawValue(of: $0)) }
        }
        return summary
    }

    private func failure(_ page: JSONPage) -> JSONReaderError {
        var offset = 0
        let code = csj_reader_failure(reader, &offset)
        return page.error(code: Int(code), offset: offset)
    }

    /// Judged only after the whole document was found to be JSON.
    private func recordList(_ page: JSONPage, _ path: JSONPath) throws -> JSONPageSummary.RecordList {
        var offset = 0
        let found = Int(csj_reader_found(reader, &offset))
        var lack = 0
        if found != CSJ_FOUND_SCALAR, csj_reader_lacks(reader, &lack) != 0, page.policies.absentRecords == .error {
            throw page.error(.recordsMissing, "this value has nothing where \(path) goes on to the records", offset: lack)
        }
        switch found {
        case CSJ_FOUND_ARRAY: return .array
        case CSJ_FOUND_OBJECT: return .singleObject
        case CSJ_FOUND_NULL: return .null
        case CSJ_FOUND_SCALAR:
            throw page.error(.recordsNotAList, "expected an array or an object of records at \(path)", offset: offset)
        default:
            if page.policies.absentRecords == .noRecords { return .absent }
            throw page.error(.recordsMissing, "the document has nothing at \(path), where the records should be", offset: 0)
        }
    }
}
