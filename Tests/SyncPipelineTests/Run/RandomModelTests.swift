import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import TestTraits
import Testing

@testable import SyncPipeline

/// J9: random models, random histories of what a service has, and random faults: in the end the rows are what the service says.
@Suite struct RandomModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let wanted =
        environment["CISTERN_SEED"].flatMap { Int($0) }.map { $0..<$0 + 1 }
        ?? 0..<(environment["CISTERN_MODELS"].flatMap { Int($0) } ?? (environment["CISTERN_STRESS"] == "1" ? 10_000 : 200))

    @Test(.longComputation, .timeLimit(.minutes(60))) func anyModelAndAnyHistoryEndAsTheServiceSays() async throws {
        for seed in Self.wanted {
            if let difference = try await Self.live(seed: seed) {
                Issue.record("CISTERN_SEED=\(seed): \(difference)")
                return
            }
        }
    }

    /// One life; what is wrong at its end.
    private static func live(seed: Int) async throws -> String? {
        var random = SeededNumbers(seed)
        var model = RandomModel(using: &random)
        let api = ScriptedAPI(), fixture = try await api.fixture(model.toml)
        for _ in 0..<2 + random.next(upTo: 5) {
            serve(api, model, isLate: random.chance(30), using: &random)
            if random.chance(50) { disturb(api, model, using: &random) }
            if random.chance(70) {
                try await fixture.sync()
            } else {
                try await fixture.sync("api/e\(random.next(upTo: model.entities.count))")
            }
            if random.chance(80) { model.change(using: &random) }
        }
        var difference: String?
        // What is listed late afterwards is known already, and newer.
        for isLate in [false, true] where difference == nil {
            serve(api, model, isLate: isLate, using: &random)
            let reports = try await fixture.sync()
            if let report = reports.first(where: { $0.outcome != .succeeded || !$0.isComplete }) {
                return "\(report.scope): \(report.outcome), \(report.error ?? "")"
            }
            for entity in model.entities.indices where difference == nil {
                let rows = try await rows(of: entity, in: fixture, model), expected = model.rows(of: entity), when = isLate ? " late" : ""
                if rows != expected {
                    difference =
                        "E\(entity) has\(when)\n\(rows.joined(separator: "\n"))\nand not\n\(expected.joined(separator: "\n"))\n\(model.toml)"
                }
            }
        }
        try await fixture.end()
        return difference
    }

    /// - Parameter isLate: some records that say how new they are are listed as they were before.
    private static func serve(_ api: ScriptedAPI, _ model: RandomModel, isLate: Bool, using random: inout SeededNumbers) {
        guard isLate else { return model.serve(api) }
        var late: Set<[Int]> = []
        for entity in model.entities.indices {
            for key in model.records[entity].keys.sorted() where random.chance(50) { late.insert([entity, key]) }
        }
        model.serve(api) { late.contains([$0, $1]) }
    }

    /// One page of some listings is not what it should be.
    private static func disturb(_ api: ScriptedAPI, _ model: RandomModel, using random: inout SeededNumbers) {
        for (number, entity) in model.entities.enumerated() where random.chance(40) {
            let path = RandomModel.path(number, random.next(upTo: entity.pages))
            switch random.next(upTo: 6) {
            case 0: api.set(path, "{\"error\": true}", status: 500)
            case 1: api.set(path, "[{\"id\": 1")
            case 2: api.set(path, "{\"error\": \"not now\"}")
            case 3: api.set(path, "[]")
            case 4: api.set(path, "[{\"val0\": 1}]")
            default: api.set(path, "<html>")
            }
        }
    }

    private static func rows(of entity: Int, in fixture: PipelineFixture, _ model: RandomModel) async throws -> [String] {
        let shape = model.entities[entity]
        return try await fixture.document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "E\(entity)")
            request.predicate = NSPredicate(format: "cisternDeletedAt == nil AND cisternStub == NO")
            let listed = model.records, onlyHeld = model.held[entity].subtracting(listed[entity].keys)
            return try worker.fetch(request).filter { !onlyHeld.contains(Self.key($0)) }.map { object in
                let values = shape.attributes.indices.map { index in
                    switch (shape.attributes[index], object.value(forKey: "val\(index)")) {
                    case (_, nil): "nil"
                    case (.flag, let value?): (value as? Bool).map { "\($0)" } ?? "\(value)"
                    case (_, let value?): "\(value)"
                    }
                }
                let links = shape.relationships.map { relationship in
                    let value = object.value(forKey: relationship.name)
                    let targets = (value as? NSManagedObject).map { [$0] } ?? (value as? Set<NSManagedObject>).map(Array.init) ?? []
                    let keys = targets.map(Self.key).filter { listed[relationship.target][$0] != nil }
                    return "\(relationship.name) \(keys.sorted())"
                }
                return (["\(object.value(forKey: "id") ?? "nil")"] + values + links).joined(separator: " | ")
            }.sorted()
        }
    }

    private static func key(_ object: NSManagedObject) -> Int { (object.value(forKey: "id") as? Int64).map(Int.init) ?? 0 }
}
