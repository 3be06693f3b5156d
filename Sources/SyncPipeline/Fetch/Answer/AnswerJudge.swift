import JSONReader
import NIOHTTP1
import SyncConfiguration

/// Finds out what an answer means by what it says: the conditions of a resource, and what GraphQL says of errors. Pure.
struct AnswerJudge: Sendable {
    /// What has to be read of a body that is JSON.
    let fields: [JSONField]
    /// How bodies of successes are taken.
    let policies: JSONReaderPolicies
    private let conditions: [AnswerCondition]
    private let success: Set<Int>
    /// The places of the fields, by path.
    private let places: [JSONPath: Int]
    private let isGraphQL: Bool
    private let plan: JSONFieldPlan?

    private static let errors: JSONPath = "$.errors", firstMessage: JSONPath = "$.errors[0].message"

    init(_ resource: ResourceConfiguration) {
        conditions = resource.conditions
        success = Set(resource.success)
        isGraphQL = resource.isGraphQL
        var policies = JSONReaderPolicies(resource.parse)
        // What is empty is not JSON.
        policies.emptyBody = .error
        self.policies = policies
        // What is only to be there costs nothing where the records are: these are cut off while they arrive.
        let read = Set(resource.conditions.flatMap(\.pathsOfValues) + (resource.isGraphQL ? [Self.errors, Self.firstMessage] : []))
        var fields: [JSONField] = [], places: [JSONPath: Int] = [:]
        for path in resource.conditions.flatMap(\.paths) + (resource.isGraphQL ? [Self.errors, Self.firstMessage] : []) where places[path] == nil {
            places[path] = fields.count
            fields.append(JSONField("\(path)", path: path, capture: read.contains(path) ? .value : .presence))
        }
        self.fields = fields
        self.places = places
        plan = fields.isEmpty ? nil : JSONFieldPlan(fields)
    }

    /// Whether there is nothing to judge by.
    var isEmpty: Bool { conditions.isEmpty && !isGraphQL }

    /// Whether it looks into bodies.
    var readsBodies: Bool { !fields.isEmpty || readsText }

    /// Whether it looks for texts in whole bodies.
    var readsText: Bool { conditions.contains { $0.subject == .text } }

    /// The fields of a body that was read by itself; nil: it is not JSON.
    func values(of body: [UInt8]) -> [JSONValue]? {
        guard let plan, !body.isEmpty else { return nil }
        // What the records are is of no account here.
        return try? JSONRecordReader().read(body: body, plan: JSONFieldPlan([]), envelope: plan, policies: policies) { _ in }.envelope
    }

    /// What an answer is taken for; nil: what its status says.
    ///
    /// - Parameters:
    ///   - values: the fields of its body; nil: that is not JSON, or nobody has read it.
    ///   - text: the beginning of its body; empty where nobody has read it.
    func verdict(status: Int, headers: HTTPHeaders, values: [JSONValue]?, text: [UInt8]) -> AnswerVerdict? {
        func value(_ path: JSONPath) -> JSONValue? {
            guard let values, let place = places[path], place < values.count else { return nil }
            return values[place]
        }
        for condition in conditions where concerns(status, condition) {
            let holds =
                switch condition.subject {
                case .status: true
                case .header(let name): condition.tests.allSatisfy { $0.holds(amongHeaders: headers[name]) }
                case .path(let path): value(path).map { value in condition.tests.allSatisfy { $0.holds(value) } } ?? false
                case .text: condition.tests.allSatisfy { $0.holds(.string(String(decoding: text, as: UTF8.self))) }
                }
            guard holds else { continue }
            return AnswerVerdict(meaning: condition.meaning, message: condition.message.flatMap(value)?.message)
        }
        guard isGraphQL, success.contains(status), let errors = value(Self.errors), errors.holdsErrors else { return nil }
        return AnswerVerdict(
            meaning: .fail, isGraphQL: true, message: value(Self.firstMessage)?.stringMessage ?? errors.parameterText ?? "an error without a message")
    }

    private func concerns(_ status: Int, _ condition: AnswerCondition) -> Bool {
        // A class of statuses leaves out what it cannot mean.
        if condition.meaning == .ignore, AnswerCondition.saysMore(status) { return false }
        guard condition.statuses.isEmpty else { return condition.statuses.contains { $0.contains(status) } }
        // Any other status is a failure by itself, and whether that is tried again is for it to say.
        return success.contains(status) || condition.meaning == .rateLimited || condition.meaning == .retry
    }
}

extension AnswerCondition {
    /// What it reads of a body.
    fileprivate var paths: [JSONPath] {
        var paths = message.map { [$0] } ?? []
        if case .path(let path) = subject { paths.append(path) }
        return paths
    }

    /// Where more than its presence matters.
    fileprivate var pathsOfValues: [JSONPath] {
        let isPresence = tests.allSatisfy { if case .exists = $0 { true } else { false } }
        return isPresence ? message.map { [$0] } ?? [] : paths
    }
}

extension JSONValue {
    /// The text that it is; nil where there is none.
    fileprivate var stringMessage: String? { stringValue.flatMap { $0.isEmpty ? nil : $0 } }

    /// What it says to people; nil: nothing.
    fileprivate var message: String? {
        if case .raw(let text) = self { return text }
        return parameterText.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether it is a list of errors that has any, or what some servers say in place of one. An error need not say anything.
    fileprivate var holdsErrors: Bool {
        switch self {
        case .missing, .null: false
        case .bool(let flag): flag
        case .int64(let number): number != 0
        case .double, .bigNumber: true
        case .string(let text): !text.isEmpty
        case .raw(let text): !["[]", "{}"].contains(String(decoding: text.utf8.filter { !" \t\r\n".utf8.contains($0) }, as: UTF8.self))
        }
    }
}
