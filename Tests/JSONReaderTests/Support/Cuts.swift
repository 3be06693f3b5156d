import Testing

@testable import JSONReader

/// How a page is read, whole or cut.
struct Cutting {
    var records: JSONPath = .root
    var envelope: JSONFieldPlan?
    var limits = JSONReaderLimits()
    var policies = JSONReaderPolicies()

    static let chunkSizes = [1, 2, 3, 7, 64, 4096, Int.max]
    static let instructions = RecordCutter.Instructions.allCases.filter(\.isSupported)

    /// Without fields. An array is then no record, but its problem says so.
    static let plan = JSONFieldPlan([])

    func cutter(_ instructions: RecordCutter.Instructions = .best) -> RecordCutter {
        RecordCutter(records: records, envelope: envelope, limits: limits, instructions: instructions)
    }
}

/// All that can be seen of a page's records and of what is around them.
struct CutPage: Equatable {
    struct Record: Equatable {
        var bytes: [UInt8]
        var problem: JSONRecordProblem.Kind?

        init(_ record: JSONRecord) {
            bytes = record.rawBytes
            problem = record.problem?.kind
        }
    }

    var records: [Record] = []
    var summary: JSONPageSummary

    /// By the reader alone.
    static func whole(_ body: [UInt8], _ cutting: Cutting) throws -> CutPage {
        var records: [Record] = []
        let summary = try withExactBytes(body) { body in
            try JSONRecordReader().read(
                bytes: body, records: cutting.records, plan: Cutting.plan, envelope: cutting.envelope, limits: cutting.limits,
                policies: cutting.policies
            ) {
                records.append(Record($0))
            }
        }
        return CutPage(records: records, summary: summary)
    }

    /// By cutter and reader. The cut records are read as one list.
    static func cut(_ body: [UInt8], _ cutting: Cutting, chunk: Int, _ instructions: RecordCutter.Instructions = .best) throws -> CutPage {
        let cutter = cutting.cutter(instructions)
        let cuts = try Cuts(body, cutter, chunk: chunk)
        var records: [Record] = []
        var summary = try cutter.finish().read(JSONRecordReader(), plan: Cutting.plan, policies: cutting.policies) { records.append(Record($0)) }
        guard cutter.status == .cut else {
            #expect(cuts.records.isEmpty && summary.recordCount == records.count)
            return CutPage(records: records, summary: summary)
        }
        let list = Array("[".utf8) + cuts.records.joined(separator: ",".utf8) + Array("]".utf8)
        let read = try JSONRecordReader().read(body: list, plan: Cutting.plan, limits: cutter.recordLimits, policies: cutting.policies) {
            records.append(Record($0))
        }
        if !read.wasRepaired && records.map(\.bytes) != cuts.records { Issue.record("other records are read than were cut") }
        summary.badRecordCount = read.badRecordCount
        summary.wasRepaired = summary.wasRepaired || read.wasRepaired
        return CutPage(records: records, summary: summary)
    }
}

/// What a cutter hands out.
struct Cuts: Equatable {
    var records: [[UInt8]] = []
    var hashes: [UInt64] = []
    var offsets: [Int] = []

    /// Each chunk is alone in its piece of memory, which is gone when the next one comes.
    init(_ body: [UInt8], _ cutter: RecordCutter, chunk: Int = .max) throws {
        var start = 0
        while start < body.count {
            let end = chunk < body.count - start ? start + chunk : body.count
            try withExactBytes(Array(body[start..<end])) { bytes in
                try cutter.cut(bytes) { record in
                    records.append(Array(record.bytes))
                    hashes.append(record.hash)
                    offsets.append(record.byteOffset)
                }
            }
            start = end
        }
    }

    init(_ text: String, _ cutter: RecordCutter, chunk: Int = .max) throws {
        try self.init(Array(text.utf8), cutter, chunk: chunk)
    }

    var texts: [String] { records.map { String(decoding: $0, as: UTF8.self) } }
}

/// Expects that a page, cut into chunks, comes to what the reader makes of the whole: the same records, or refused by both.
func expectSameVerdict(
    _ body: [UInt8], _ cutting: Cutting, chunk: Int, _ instructions: RecordCutter.Instructions, whole: CutPage?,
    _ name: @autoclosure () -> String = "", sourceLocation: SourceLocation = #_sourceLocation
) throws {
    do {
        let page = try CutPage.cut(body, cutting, chunk: chunk, instructions)
        if page == whole { return }
    } catch is JSONReaderError {
        if whole == nil { return }
    }
    let text = String(decoding: body.prefix(2000), as: UTF8.self)
    Issue.record("\(name()) in chunks of \(chunk), \(instructions), at \(cutting.records): \(text)", sourceLocation: sourceLocation)
}

func wholePage(_ body: [UInt8], _ cutting: Cutting) throws -> CutPage? {
    do {
        return try CutPage.whole(body, cutting)
    } catch is JSONReaderError {
        return nil
    }
}
