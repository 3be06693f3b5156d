import Secrets
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `check --online`: the standard tests of resources on their services, as they are told.
struct OnlineCheck {
    private let configuration: CisternConfiguration
    private let resources: [ResourceConfiguration]
    private let surroundings: Surroundings
    /// What a message that asks for the daemon names.
    private let scope: String

    /// - Parameter scope: a source or a resource, enabled or not; nil: all that are enabled.
    /// - Throws: `ControlError` with status 64 for a scope that is not there.
    init(_ configuration: CisternConfiguration, scope: String?, _ surroundings: Surroundings) throws(ControlError) {
        self.configuration = configuration
        self.surroundings = surroundings
        self.scope = scope ?? ""
        let all = configuration.sources.flatMap(\.resources)
        guard let scope else {
            resources = all.filter(\.isEnabled)
            return
        }
        resources = all.filter { $0.scope == scope || $0.source == scope }
        if resources.isEmpty {
            let known = all.map(\.scope).joined(separator: ", ")
            throw ControlError(
                "there is no source or resource \"\(scope)\"", advice: known.isEmpty ? "the configuration has none" : "there are \(known)",
                code: .usage)
        }
    }

    /// Shows the tests of each resource as soon as they are done.
    func show() async throws -> ControlExitCode {
        let console = surroundings.console
        let checks = try await run { check in show(check, console) }
        console.out("")
        console.out(Self.summary(checks))
        return Self.code(checks)
    }

    /// The tests of all resources as JSON, and the problems of the configuration with them.
    func report(besides problems: [CheckVerb.Problem]) async throws -> ControlExitCode {
        let checks = try await run { _ in }
        try surroundings.console.json(Report(problems: problems, resources: checks.map { Report.Resource($0) }), pretty: true)
        return Self.code(checks)
    }

    private func run(_ each: (ResourceCheck) -> Void) async throws -> [ResourceCheck] {
        let secrets = SecretResolver(SecretReader(environment: surroundings.environment, sources: TryVerb.credentialSources))
        let transports = TransportPool(secrets: secrets)
        var checks: [ResourceCheck] = []
        do {
            try await ServiceCheck.run(
                resources, configuration: configuration, transports: transports, clock: SystemClock(), secrets: secrets,
                tokens: TryVerb.tokens(scope), version: CisternVersion.current
            ) { check in
                checks.append(check)
                each(check)
            }
            await transports.shutdown()
        } catch {
            await transports.shutdown()
            throw ControlError("\(error)", code: .configuration)
        }
        return checks
    }

    // MARK: In words

    private func show(_ check: ResourceCheck, _ console: Console) {
        let part = check.part.map { ", of which \($0) is tried" } ?? ""
        console.out("")
        console.out("\(check.scope)\(part): \(check.requests) \(check.requests == 1 ? "request" : "requests")")
        var table = TextTable(titles: [("TEST", .left), ("OUTCOME", .left), ("WHAT", .left)])
        for test in check.tests {
            table.rows.append([
                TextTable.Cell(test.name.rawValue), TextTable.Cell(test.outcome.rawValue, Self.colour(test.outcome)), TextTable.Cell(test.detail),
            ])
        }
        console.table(table)
        for test in check.tests where test.outcome == .failed || test.outcome == .warned {
            guard let change = test.change else { continue }
            // A table may have been cut where the terminal ends.
            let detail = console.isTerminal ? "\(test.detail); " : ""
            console.out("\(test.name.rawValue): \(detail)change \(change.key): \(change.value)")
        }
    }

    private static func colour(_ outcome: ResourceCheck.Outcome) -> TextTable.Colour {
        switch outcome {
        case .passed: .green
        case .warned: .yellow
        case .failed: .red
        case .notTried: .grey
        }
    }

    static func summary(_ checks: [ResourceCheck]) -> String {
        let resources = "\(checks.count) \(checks.count == 1 ? "resource" : "resources") tried"
        let counts = ResourceCheck.Outcome.allCases.compactMap { outcome -> String? in
            let count = checks.reduce(0) { $0 + $1.count(outcome) }
            return count == 0 ? nil : "\(count) \(outcome.rawValue)"
        }
        return ([resources] + counts).joined(separator: ", ")
    }

    /// What needs a person comes first; that a server asked for a wait is no failure, and no success either.
    static func code(_ checks: [ResourceCheck]) -> ControlExitCode {
        let faults = Set(checks.flatMap(\.tests).compactMap(\.fault))
        if faults.contains(.configuration) { return .configuration }
        if faults.contains(.credentials) { return .noPermission }
        if faults.contains(.answer) { return .protocolError }
        if faults.contains(.unreachable) { return .unavailable }
        return checks.contains(where: \.isPutOff) ? .temporaryFailure : .success
    }

    // MARK: As JSON

    private struct Report: Encodable {
        struct Change: Encodable {
            var key: String
            var value: String
        }

        struct Test: Encodable {
            var name: String
            var outcome: String
            var detail: String
            var fault: String?
            var change: Change?
        }

        struct Resource: Encodable {
            var scope: String
            var part: String?
            var requests: Int
            var tests: [Test]

            init(_ check: ResourceCheck) {
                (scope, part, requests) = (check.scope, check.part, check.requests)
                tests = check.tests.map { test in
                    Test(
                        name: test.name.rawValue, outcome: test.outcome.rawValue, detail: test.detail, fault: test.fault?.rawValue,
                        change: test.change.map { Change(key: $0.key, value: $0.value) })
                }
            }
        }

        var problems: [CheckVerb.Problem]
        var resources: [Resource]
    }
}
