import Foundation
import JSONReader
import SyncConfiguration

/// Finds out which records of a page are taken: `filter`. What it leaves out is neither bad nor missing; it is as if it were not listed, but it counts
/// as a record of its page.
struct RecordFilter: Sendable {
    private let conditions: [RecordCondition]
    private let areTexts: Bool
    private let plan: JSONFieldPlan
    /// The places of the plan's fields, by path.
    private let places: [JSONPath: Int]
    /// How a record says that its object is gone; nil: none does, or every one.
    private let deletionSign: DeletionSign?

    /// What becomes of a record.
    enum Judgement: Sendable {
        case taken
        case leftOut
        /// Whether it fits cannot be told.
        case unclear(ConversionProblem)
    }

    /// What becomes of each of a page's records that are read, in order.
    struct Judgements: Sendable {
        fileprivate var isLeftOut: [Bool] = []
        fileprivate var problems: [Int: ConversionProblem] = [:]

        subscript(number: Int) -> Judgement {
            if let problem = problems[number] { return .unclear(problem) }
            return leavesOut(number) ? .leftOut : .taken
        }

        func leavesOut(_ number: Int) -> Bool { number < isLeftOut.count && isLeftOut[number] }

        fileprivate mutating func append(_ judgement: Judgement) {
            if case .unclear(let problem) = judgement { problems[isLeftOut.count] = problem }
            if case .leftOut = judgement { isLeftOut.append(true) } else { isLeftOut.append(false) }
        }
    }

    /// Nil: every record is taken.
    init?(_ resource: ResourceConfiguration) {
        guard !resource.filter.isEmpty else { return nil }
        conditions = resource.filter
        areTexts = resource.format.holdsTexts
        var fields: [JSONField] = [], places: [JSONPath: Int] = [:]
        for condition in resource.filter where places[condition.path] == nil {
            places[condition.path] = fields.count
            fields.append(JSONField("\(condition.path)", path: condition.path))
        }
        self.places = places
        deletionSign = resource.deletion.condition.map { condition in
            DeletionSign(field: fields.count, test: condition.tests.first, areTexts: resource.format.holdsTexts)
        }
        if let condition = resource.deletion.condition { fields.append(JSONField("deletion", path: condition.path)) }
        plan = JSONFieldPlan(fields)
    }

    /// Reads the records of a page that have to be read.
    ///
    /// - Parameters:
    ///   - now: wall time.
    ///   - isCancelled: asked for each; then it throws `SyncError.cancelled`.
    func judge(_ content: PageContent, policies: JSONReaderPolicies, now: Date, isCancelled: () -> Bool) throws -> Judgements {
        var judgements = Judgements()
        _ = try content.read(plan: plan, policies: policies) { record, _ in
            if isCancelled() { throw SyncError.cancelled }
            judgements.append(judgement(record, now.timeIntervalSinceReferenceDate))
        }
        return judgements
    }

    private func judgement(_ record: JSONRecord, _ now: Double) -> Judgement {
        // What is wrong with it is for the mapper to say.
        guard record.problem == nil else { return .taken }
        var problem: ConversionProblem?
        for condition in conditions {
            guard let place = places[condition.path] else { continue }
            do throws(ConversionProblem) {
                if try condition.holds(record[place], areTexts: areTexts, now, named: "filter") { return .taken }
            } catch {
                problem = problem ?? error
            }
        }
        if isBareDeletion(record) { return .taken }
        return problem.map { .unclear($0) } ?? .leftOut
    }

    /// Whether a record says that its object is gone, and nothing of what it is: such a one cannot fit, whatever the object was. One that says that
    /// it is something else is none that is wanted.
    private func isBareDeletion(_ record: JSONRecord) -> Bool {
        guard let deletionSign, deletionSign.isMet(by: record) else { return false }
        return places.values.allSatisfy { record[$0].isNil }
    }
}
