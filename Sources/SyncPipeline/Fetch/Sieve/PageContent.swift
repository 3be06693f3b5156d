import JSONReader

/// What a page holds, as a sieve has left it. It can be read any number of times.
public struct PageContent: Sendable {
    /// Identifies the content: two pages that have it in common hold the same records in the same envelope.
    public let digest: BodyDigest
    /// The page's records, of which those that the page's last reading had are not read.
    let records: PageRecords
    private let spooled: [RecordSpool.Place]
    private let lastRecord: [UInt8]
    private let envelope: Result<PageEnvelope, any Error>
    /// Where the records stand, of a page that was no JSON document.
    let lines: RecordLines?
    /// What the page itself says of its columns, if it has any and does.
    let header: RecordHeader?
    /// The response said that there are no records: a body that is empty is none then.
    private var isNothing = false

    /// - Parameter lastRecord: the text of the last record that was cut; empty if there is none, or nobody wants it.
    init(
        records: PageRecords, spooled: [RecordSpool.Place], lastRecord: [UInt8], envelope: Result<PageEnvelope, any Error>, lines: RecordLines? = nil,
        header: RecordHeader? = nil
    ) throws {
        self.records = records
        self.spooled = spooled
        self.lastRecord = lastRecord
        self.envelope = envelope
        self.lines = lines
        self.header = header
        digest = BodyDigest(records: try records.hash(), around: (try? envelope.get())?.hash ?? JSONHash(high: 0, low: 0))
    }

    /// The content of a response that said that there are no records, and whose body nobody has read.
    func withoutRecords() -> PageContent {
        var content = self
        content.isNothing = true
        return content
    }

    private func adapted(_ policies: JSONReaderPolicies) -> JSONReaderPolicies {
        guard isNothing else { return policies }
        var policies = policies
        policies.emptyBody = .noRecords
        return policies
    }

    /// Whether records were left out that are the same as when the page was read last.
    var isCompared: Bool { records.unreadCount > 0 }

    /// Whether all of the page could be taken apart. If not, reading it says why.
    var isWhole: Bool { if case .success = envelope { true } else { false } }

    /// Reads what has to be read of the page.
    ///
    /// - Parameters:
    ///   - plan: what is wanted of each record.
    ///   - isRead: called with the number of each list before it is read; true: the list's records are known already.
    ///   - each: gets the records in order; with where they stand in the page, or nil if that is not known, and `records` does not know of them yet.
    /// - Returns: what the reader says of the whole page.
    /// - Throws: `JSONReaderError`, or `FormatError` where the page is no JSON document; `FetchError` of the class `spool`; what the closure throws.
    func read(
        plan: JSONFieldPlan, policies: JSONReaderPolicies, isRead: (_ list: Int) throws -> Bool = { _ in false },
        each: (JSONRecord, _ place: RecordSpool.Record?) throws -> Void
    ) throws -> JSONPageSummary {
        let envelope = try envelope.get(), reader = JSONRecordReader()
        var list = RecordSpool.List()
        for (number, place) in spooled.enumerated() where try !isRead(number) {
            try place.read(into: &list)
            var next = 0
            do {
                _ = try list.bytes.withUnsafeBytes { bytes in
                    try reader.read(bytes: bytes, plan: plan, limits: envelope.recordLimits, policies: policies) { record in
                        next = record.index + 1
                        try each(record, list.records[record.index])
                    }
                }
            } catch let error as JSONReaderError {
                // Repaired bytes stand elsewhere than they did; what is wrong may be noticed before the records in front of it are read.
                let place = error.location.byteOffset, isRepaired = policies.invalidUTF8 == .replace
                let found = isRepaired ? list.records[min(next, list.records.count - 1)] : list.records.last { $0.start <= place }
                guard let record = found else { throw told(error, at: nil) }
                throw told(error.moved(by: record.offset - record.start), at: record.place)
            }
        }
        return try telling { try envelope.read(reader, plan: plan, policies: adapted(policies)) { try each($0, nil) } }
    }

    /// What the reader says of one of the records, or of what is around them.
    private func told(_ error: JSONReaderError, at record: Int?) -> any Error {
        guard let lines else { return error }
        return FormatError(error, at: record, lines)
    }

    private func telling<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as JSONReaderError { throw told(error, at: nil) }
    }

    /// Reads another list of a page that is kept whole. Where there is none, or null, nothing is in it.
    ///
    /// - Parameters:
    ///   - plan: what is wanted of each object in it.
    ///   - each: gets the objects in order.
    /// - Throws: `JSONReaderError`, and what the closure throws.
    func read(list: JSONPath, plan: JSONFieldPlan, policies: JSONReaderPolicies, each: (JSONRecord) throws -> Void) throws {
        var policies = adapted(policies)
        policies.absentRecords = .noRecords
        _ = try envelope.get().read(JSONRecordReader(), list: list, plan: plan, policies: policies, each: each)
    }

    /// Reads what is around the records, of a page that was cut; nil: it is not known until all of the page is read.
    func readEnvelope(policies: JSONReaderPolicies) throws -> JSONPageSummary? {
        let envelope = try envelope.get()
        guard envelope.isCut else { return nil }
        return try telling { try envelope.read(JSONRecordReader(), plan: JSONFieldPlan([]), policies: policies) { _ in } }
    }

    /// The values of the fields around the records, of any page, whatever stands where these should be; nil: the page cannot be read.
    func values(policies: JSONReaderPolicies) -> [JSONValue]? {
        guard case .success(let envelope) = envelope else { return nil }
        return try? envelope.values(JSONRecordReader(), policies: adapted(policies))
    }

    /// A text or a number that a next page may begin after.
    struct Token: Hashable {
        let text: String
        let isNumber: Bool
    }

    /// Reads a text or a number of the page's last record, also where that one was left out. If the page was not cut, it is read once more.
    ///
    /// - Parameter plan: that of the sieve's plan: of one field.
    /// - Returns: a number in its own digits; nil: there is neither, or the record is not good, or there is none.
    /// - Throws: as ``read(plan:policies:isRead:each:)``; not if the page's records were read without that.
    func readLast(_ plan: JSONFieldPlan, policies: JSONReaderPolicies) throws -> Token? {
        let envelope = try envelope.get(), reader = JSONRecordReader()
        var token: Token?
        if !envelope.isCut {
            _ = try envelope.read(reader, plan: plan, policies: adapted(policies)) { token = $0.token }
        } else if !lastRecord.isEmpty {
            let list = [UInt8(ascii: "[")] + lastRecord + [UInt8(ascii: "]")]
            _ = try reader.read(body: list, plan: plan, limits: envelope.recordLimits, policies: policies) { token = $0.token }
        }
        return token
    }
}

extension JSONRecord {
    /// The text or number of its first field.
    fileprivate var token: PageContent.Token? {
        // What a record holds that is not good is only known in part.
        guard problem == nil else { return nil }
        switch self[0] {
        case .string(let text): return PageContent.Token(text: String(text), isNumber: false)
        case .int64, .double, .bigNumber: return rawValue(of: 0).map { PageContent.Token(text: String($0), isNumber: true) }
        case .missing, .null, .bool, .raw, .object, .array: return nil
        }
    }
}
