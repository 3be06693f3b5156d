import JSONReader
import OpenCoreData

/// Takes a page apart while its bytes arrive: what is the same as in its last reading is left out, the other records wait in a spool, and of what is
/// around them everything is kept.
///
/// Whatever is wrong with the page is found out when its content is read; until then, nothing of it counts.
struct PageSieve {
    private let cutter: RecordCutter
    /// Makes a JSON list of what arrives; nil: it is JSON.
    private let transcoder: RecordTranscoder?
    private var records: PageRecords
    private var spool: RecordSpool
    /// Whether the last record's text is wanted, also where the record is left out.
    private let keepsLast: Bool
    private var lastRecord: [UInt8] = []
    private var failure: (any Error)?
    private let arrival: (any PageArrival)?

    /// - Parameters:
    ///   - known: what the page's records were when it was read last; nil: all have to be read.
    ///   - place: where records wait.
    ///   - arrival: hears of the records that have to be read.
    init(_ plan: SievePlan, known: Manifest?, place: SpoolPlace, arrival: (any PageArrival)? = nil) {
        cutter = RecordCutter(records: plan.records, envelope: plan.envelope.plan, limits: plan.limits, keepsWhole: plan.keepsWhole)
        transcoder = RecordTranscoder(
            plan.format, columns: plan.columns, records: plan.records, limits: plan.limits, maxRatio: plan.maxRatio)
        records = PageRecords(known, in: place.recordSpill)
        // Nothing is cut, and so nothing would be left out.
        if plan.keepsWhole { records.forgoComparison() }
        spool = RecordSpool(place)
        keepsLast = plan.lastRecord != nil
        self.arrival = arrival
        arrival?.began(under: cutter.recordLimits)
    }

    /// Takes the next bytes. Throws `FetchError`: of the class `spool` where there is no room for them, `tooLarge` where they become too much.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws {
        // What follows an error says nothing any more.
        if failure != nil { return }
        do {
            guard let transcoder else { return try cut(bytes) }
            try transcoder.take(bytes) { try cut($0) }
        } catch let error as JSONReaderError {
            failure = told(error)
        } catch let error as FormatError {
            failure = error
        }
    }

    private mutating func cut(_ bytes: UnsafeRawBufferPointer) throws {
        try cutter.cut(bytes) { record in
            if keepsLast {
                lastRecord.removeAll(keepingCapacity: true)
                lastRecord.append(contentsOf: record.bytes)
            }
            guard let place = records.take(record.hash), let list = try spool.append(record, at: place) else { return }
            arrival?.arrived(list)
        }
    }

    /// What is wrong with the record that would have been cut next, or with what is around the records.
    private func told(_ error: JSONReaderError) -> any Error {
        guard let transcoder else { return error }
        return FormatError(error, at: cutter.recordCount, transcoder.lines)
    }

    private mutating func finishTranscoding() throws {
        guard failure == nil, let transcoder else { return }
        do {
            try transcoder.finish { try cut($0) }
        } catch let error as JSONReaderError {
            failure = told(error)
        } catch let error as FormatError {
            failure = error
        }
    }

    /// The page as it has arrived. Called once, at its end. Throws as `take` does, also where what is in a file can't be read any more.
    mutating func finish() throws -> PageContent {
        try finishTranscoding()
        let envelope: Result<PageEnvelope, any Error>
        do {
            if let failure { throw failure }
            envelope = .success(try cutter.finish())
        } catch {
            envelope = .failure((error as? JSONReaderError).map { told($0) } ?? error)
        }
        records.finish()
        let spooled = try spool.finish()
        do {
            return try PageContent(
                records: records, spooled: spooled, lastRecord: lastRecord, envelope: envelope, lines: transcoder?.lines,
                header: transcoder?.header)
        } catch {
            throw FetchError(.spool, detail: error.localizedDescription)
        }
    }
}
