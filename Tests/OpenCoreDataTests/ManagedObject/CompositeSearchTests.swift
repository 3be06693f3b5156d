import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Random use of composite attributes beside plain dictionaries.
// A9
@Suite struct CompositeSearchTests {
    /// What a quake's magnitude should be, by code: each element by its path.
    private typealias Reference = [String: [String: Double]]

    private static let paths = ["richter", "felt.reports", "felt.depth"]

    private static func entity() -> NSEntityDescription {
        Quakes.entity(
            Quakes.composite(
                "magnitude",
                [
                    Quakes.attribute("richter", .double),
                    Quakes.composite("felt", [Quakes.attribute("reports", .integer32), Quakes.attribute("depth", .double)]),
                ]))
    }

    private static func dictionary(_ values: [String: Double]) -> [String: Any]? {
        var result: [String: Any] = [:]
        for (path, value) in values { result.nest(value, under: path.split(separator: ".").map(String.init)[...]) }
        return result.isEmpty ? nil : result
    }

    private static func values(of quake: NSManagedObject) -> [String: Double] {
        var result: [String: Double] = [:]
        for path in paths { result[path] = (quake.value(forKeyPath: "magnitude.\(path)") as? NSNumber)?.doubleValue }
        return result
    }

    private static func check(_ context: NSManagedObjectContext, _ reference: Reference, _ random: inout SeededRandom) throws {
        for quake in try context.all("Quake", by: "code") {
            let code = try #require(quake.value(forKey: "code") as? String), wanted = reference[code] ?? [:]
            #expect(values(of: quake) == wanted)
            #expect((quake.value(forKey: "magnitude") as? NSDictionary) == (dictionary(wanted) as NSDictionary?))
        }
        let path = paths[Int.random(in: 0..<3, using: &random)], bound = Double(Int.random(in: 0..<6, using: &random))
        let larger = reference.filter { ($0.value[path] ?? -1) > bound }.keys.sorted()
        #expect(try context.found("magnitude.\(path) > %@", bound) == larger)
        #expect(
            try context.found("magnitude.felt == nil")
                == reference.filter { $0.value["felt.reports"] == nil && $0.value["felt.depth"] == nil }.keys.sorted())
        #expect(try context.found("magnitude != nil") == reference.filter { !$0.value.isEmpty }.keys.sorted())
    }

    @Test(arguments: 1...12)
    func whateverIsDoneItIsWhatADictionaryWouldBe(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        let fixture = try MigrationFixture()
        let (root, coordinator, store) = try fixture.connect([Self.entity()])
        defer { try? coordinator.remove(store) }
        root.performAndWait { root.undoManager = UndoManager() }
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = root
        var stored: Reference = [:], above: Reference = [:]
        for number in 0..<6 { above["q\(number)"] = [:] }
        try root.performAndWait {
            for code in above.keys { root.make("Quake", ["code": code]) }
            try root.save()
        }
        stored = above
        for _ in 0..<40 {
            let inChild = Bool.random(using: &random), context = inChild ? child : root
            let whole = Bool.random(using: &random), end = Int.random(in: 0..<6, using: &random)
            try context.performAndWait {
                var reference = above
                for quake in try context.all("Quake", by: "code") where Bool.random(using: &random) {
                    let code = try #require(quake.value(forKey: "code") as? String)
                    if whole {
                        var values: [String: Double] = [:]
                        for path in Self.paths where Bool.random(using: &random) { values[path] = Double(Int.random(in: 0..<6, using: &random)) }
                        quake.setValue(Self.dictionary(values), forKey: "magnitude")
                        reference[code] = values
                    } else {
                        let path = Self.paths[Int.random(in: 0..<3, using: &random)]
                        let value = Bool.random(using: &random) ? nil : Double(Int.random(in: 0..<6, using: &random))
                        quake.setValue(value, forKeyPath: "magnitude.\(path)")
                        reference[code]?[path] = value
                    }
                }
                try Self.check(context, reference, &random)
                switch end {
                case 0:
                    context.rollback()
                    if !inChild { reference = stored } else { reference = above }
                case 1 where !inChild:
                    context.processPendingChanges()
                    if context.undoManager?.canUndo == true {
                        context.undo()
                        context.rollback()
                    }
                    reference = stored
                default: try context.save()
                }
                context.undoManager?.removeAllActions()
                for object in context.registeredObjects where Bool.random(using: &random) { context.refresh(object, mergeChanges: true) }
                if !inChild, end > 1 { stored = reference }
                above = reference
            }
            try root.performAndWait { try Self.check(root, above, &random) }
            child.performAndWait { child.refreshAllObjects() }
            try child.performAndWait { try Self.check(child, above, &random) }
        }
        try root.performAndWait {
            try root.save()
            root.reset()
            try Self.check(root, above, &random)
        }
        let rows = try fixture.shell.rows("SELECT code, magnitude_richter, magnitude_felt_reports, magnitude_felt_depth FROM Quake ORDER BY code")
        let wanted = above.keys.sorted().map { code in
            [code]
                + Self.paths.map { path in
                    above[code]?[path].map { path == "felt.reports" ? "\(Int($0))" : "\($0)" } ?? "∅"
                }
        }
        #expect(rows == wanted)
    }
}
