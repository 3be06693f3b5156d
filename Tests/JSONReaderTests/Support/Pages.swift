import JSONReader

/// Walks bytes that are alone in their piece of memory, so that reading one byte too many does not go unnoticed by an address sanitizer.
func withExactBytes<Result>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    return try body(UnsafeRawBufferPointer(copy))
}

/// What came out of a page, in values that stay.
struct Page: Equatable {
    var rows: [[JSONValue]] = []
    var problems: [JSONRecordProblem.Kind?] = []
    var summary: JSONPageSummary

    static func read(
        _ text: String, records: JSONPath = .root, _ fields: [JSONField], envelope: [JSONField]? = nil,
        limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies()
    ) throws -> Page {
        try read(Array(text.utf8), records: records, fields, envelope: envelope, limits: limits, policies: policies)
    }

    static func read(
        _ bytes: [UInt8], records: JSONPath = .root, _ fields: [JSONField], envelope: [JSONField]? = nil,
        limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies()
    ) throws -> Page {
        var rows: [[JSONValue]] = []
        var problems: [JSONRecordProblem.Kind?] = []
        let plan = JSONFieldPlan(fields)
        let summary = try withExactBytes(bytes) { bytes in
            try JSONRecordReader().read(
                bytes: bytes, records: records, plan: plan, envelope: envelope.map { JSONFieldPlan($0) }, limits: limits, policies: policies
            ) { record in
                rows.append(fields.indices.map { JSONValue(record[$0], raw: record.rawValue(of: $0)) })
                problems.append(record.problem?.kind)
            }
        }
        return Page(rows: rows, problems: problems, summary: summary)
    }

    /// The value of key `v` of the only record.
    static func value(
        _ json: String, capture: JSONField.Capture = .value,
        policies: JSONReaderPolicies = JSONReaderPolicies()
    ) throws -> JSONValue {
        try read("{\"v\":\(json)}", [JSONField(key: "v", capture: capture)], policies: policies).rows[0][0]
    }

    /// What the only record is refused for.
    static func problem(
        _ text: String, _ fields: [JSONField] = [], limits: JSONReaderLimits = JSONReaderLimits(),
        policies: JSONReaderPolicies = JSONReaderPolicies()
    ) throws -> JSONRecordProblem.Kind? {
        try read(text, fields, limits: limits, policies: policies).problems[0]
    }
}

/// The error a page is refused with, or `nil`.
func pageError(
    _ text: String, records: JSONPath = .root, _ fields: [JSONField] = [], envelope: [JSONField]? = nil,
    limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies()
) -> JSONReaderError? {
    do {
        _ = try Page.read(text, records: records, fields, envelope: envelope, limits: limits, policies: policies)
        return nil
    } catch {
        return error as? JSONReaderError
    }
}

/// Whether a whole document is accepted.
func accepts(_ bytes: [UInt8], policies: JSONReaderPolicies = JSONReaderPolicies(), limits: JSONReaderLimits = JSONReaderLimits()) -> Bool {
    withExactBytes(bytes) { bytes in
        do {
            _ = try JSONRecordReader().validate(bytes: bytes, limits: limits, policies: policies)
            return true
        } catch {
            return false
        }
    }
}

func accepts(_ text: String) -> Bool { accepts(Array(text.utf8)) }
