import Foundation
import OpenCoreData
import SyncConfiguration
import SyncPipeline
import SyncReports

extension TestRun {
    /// What is different from what the run says, the requests first: where one of them has no answer, what came of the run is not what it would be.
    func differences(from course: TestCourse, on stage: TestStage) async throws -> [TestDifference] {
        let unanswered = course.asked.filter { $0.exchange == nil }
        if !unanswered.isEmpty {
            return unanswered.map { asked in
                TestDifference(place, "no exchange answers this request", got: asked.request.line, block: Self.block(asked.request))
            } + unasked(course)
        }
        var differences = unasked(course) + orders(course) + endings(course) + counts(course)
        differences += try await quarantine(course, on: stage)
        differences += try await rows(on: stage)
        return differences
    }

    /// The place of what is expected; that of the run where it says nothing.
    private var expected: String { expectation.place.isEmpty ? place : expectation.place }

    private static func block(_ request: AskedRequest) -> String {
        "[[test.exchange]]\n\(request.toml)\nbody = '''\n[]\n'''\n"
    }

    // MARK: Requests

    private func unasked(_ course: TestCourse) -> [TestDifference] {
        let used = Set(course.asked.compactMap(\.exchange))
        return exchanges.indices.filter { !used.contains($0) && !exchanges[$0].isOptional }.map { index in
            let exchange = exchanges[index]
            let words = exchange.request.map { "\($0.method.rawValue) \($0.address)" } ?? "whatever is asked"
            return TestDifference(exchange.place, "nobody asked for this (optional = true lets that be)", wanted: words)
        }
    }

    private func orders(_ course: TestCourse) -> [TestDifference] {
        var differences: [TestDifference] = []
        if let requests = expectation.requests, requests != course.asked.count {
            differences.append(TestDifference(expected, "requests", wanted: "\(requests)", got: "\(course.asked.count)"))
        }
        let used = course.asked.compactMap(\.exchange)
        if expectation.isInOrder, used != used.sorted() {
            let lines = course.asked.map(\.request.line).joined(separator: ", then ")
            differences.append(TestDifference(expected, "the exchanges did not take place in their order", got: lines))
        }
        return differences
    }

    // MARK: Reports

    private func endings(_ course: TestCourse) -> [TestDifference] {
        var differences: [TestDifference] = []
        let failures = course.reports.filter { report in
            switch report.outcome {
            case .succeeded: false
            // That it is not complete is what is expected.
            case .incomplete: expectation.isComplete != false
            case .failed, .cancelled, .parked: true
            }
        }
        if let error = expectation.error {
            let errors = course.reports.compactMap(\.error)
            if !errors.contains(where: { $0.contains(error) }) {
                let got = errors.isEmpty ? "none" : errors.map { tomlQuoted($0) }.joined(separator: ", ")
                differences.append(TestDifference(expected, "error", wanted: tomlQuoted(error), got: got))
            }
        } else {
            differences += failures.map { report in
                TestDifference(expected, "\(report.scope) \(report.outcome.words)", got: tomlQuoted(report.error ?? report.outcome.rawValue))
            }
        }
        if let isComplete = expectation.isComplete {
            let others = course.reports.filter { !$0.isComplete }.map { "\($0.scope)" }
            if isComplete != others.isEmpty {
                let words = others.isEmpty ? "true" : "false, because of \(others.joined(separator: ", "))"
                differences.append(TestDifference(expected, "complete", wanted: "\(isComplete)", got: words))
            }
        }
        return differences
    }

    private func counts(_ course: TestCourse) -> [TestDifference] {
        let sum = course.counts
        return RecordCounts.kinds.compactMap { kind in
            let count = sum[keyPath: kind.path]
            guard let wanted = expectation.counts[kind.name], wanted != count else { return nil }
            return TestDifference(expected, "counts.\(kind.name)", wanted: "\(wanted)", got: "\(count)")
        }
    }

    // MARK: The store

    private func quarantine(_ course: TestCourse, on stage: TestStage) async throws -> [TestDifference] {
        guard expectation.quarantine != nil || course.counts.quarantined > 0 else { return [] }
        let entries = try await stage.pipeline.quarantine(limit: 1_000).sorted {
            ($0.scope, $0.run, $0.page, $0.record) < ($1.scope, $1.run, $1.page, $1.record)
        }
        guard let wanted = expectation.quarantine else {
            if expectation.counts["quarantined"] != nil { return [] }
            return entries.map { TestDifference(expected, "a record is set aside", got: $0.words) }
        }
        var rest = entries, differences: [TestDifference] = []
        for record in wanted {
            if let index = rest.firstIndex(where: { record.means($0) }) {
                rest.remove(at: index)
            } else {
                differences.append(TestDifference(expected, "no such record is set aside", wanted: record.words))
            }
        }
        return differences + rest.map { TestDifference(expected, "a record is set aside that the test does not name", got: $0.words) }
    }

    private func rows(on stage: TestStage) async throws -> [TestDifference] {
        guard !expectation.rows.isEmpty || !expectation.objects.isEmpty else { return [] }
        let model = stage.configuration.model, expectation = expectation, place = expected
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.parent = stage.document.managedObjectContext
        return try await context.perform {
            let comparison = RowComparison(configuration: model, context: context)
            var differences: [TestDifference] = []
            for (name, rows) in expectation.rows.sorted(by: { $0.key < $1.key }) {
                if let entity = model.entity(named: name) {
                    differences += try comparison.differences(entity, wanted: rows, at: place)
                } else {
                    differences.append(Self.unknown(name, model, place))
                }
            }
            for (name, count) in expectation.objects.sorted(by: { $0.key < $1.key }) {
                guard let rows = try comparison.rows(of: name) else {
                    differences.append(Self.unknown(name, model, place))
                    continue
                }
                if rows.count != count { differences.append(TestDifference(place, "objects.\(name)", wanted: "\(count)", got: "\(rows.count)")) }
            }
            return differences
        }
    }

    private static func unknown(_ name: String, _ model: ModelConfiguration, _ place: String) -> TestDifference {
        TestDifference(place, "there is no entity \(tomlQuoted(name)); there are \(model.entities.map(\.name).joined(separator: ", "))")
    }
}

extension TestCourse {
    /// Over all resources.
    var counts: RecordCounts { reports.reduce(into: RecordCounts()) { $0 += $1.counts } }
}

extension RunOutcome {
    fileprivate var words: String {
        switch self {
        case .succeeded: "succeeded"
        case .incomplete: "was not read to its end"
        case .failed: "failed"
        case .cancelled: "was stopped"
        case .parked: "is to be left alone"
        }
    }
}

extension Expectation.Quarantined {
    fileprivate func means(_ entry: QuarantineEntry) -> Bool {
        if let reason, !entry.reason.contains(reason) { return false }
        if let path, path != entry.path { return false }
        if let page, page != entry.page { return false }
        return record == nil || record == entry.record
    }

    fileprivate var words: String {
        var members: [String: TestValue] = [:]
        members["reason"] = reason.map { .text($0) }
        members["path"] = path.map { .text($0) }
        members["page"] = page.map { .integer(Int64($0)) }
        members["record"] = record.map { .integer(Int64($0)) }
        return TestValue.table(members).toml
    }
}

extension QuarantineEntry {
    fileprivate var words: String {
        let members: [String: TestValue] = [
            "reason": .text(reason), "path": .text(path), "page": .integer(Int64(page)), "record": .integer(Int64(record)),
        ]
        return "\(scope) \(TestValue.table(members).toml)"
    }
}
