import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import TestTraits
import Testing

@Suite struct FetchedResultsPropertyTests {
    /// How a controller is set up.
    private struct Setup {
        var format: String?
        var sort: [String]
        var sections: String?
        var limit = 0
        var offset = 0
        var takesDifferences = false
        /// The predicate or the order goes over other objects, of which a fetch sees what is saved only.
        var isRelated = false

        static let all = [
            Setup(sort: ["name"]),
            Setup(format: "age >= 40", sort: ["age", "name"], takesDifferences: true),
            Setup(sort: ["nick", "age"], sections: "nick"),
            Setup(format: "age < 60 AND nick != 'b'", sort: ["nick"], sections: "nick"),
            Setup(format: "age > 10", sort: ["nick", "name"], sections: "nick", limit: 5, offset: 2),
            Setup(sort: ["department.name", "age"], sections: "department.name", isRelated: true),
            Setup(format: "department.name != 'd1' AND age < 70", sort: ["department.budget", "name"], takesDifferences: true, isRelated: true),
        ]
    }

    private final class Followed {
        let setup: Setup
        let controller: NSFetchedResultsController<NSManagedObject>
        let recorder = ResultsRecorder()
        let differences = DifferenceRecorder()

        init(_ setup: Setup, in context: NSManagedObjectContext) throws {
            self.setup = setup
            controller = context.persons(setup.format, sort: setup.sort, sections: setup.sections, limit: setup.limit, offset: setup.offset)
            if setup.takesDifferences { controller.delegate = differences } else { controller.delegate = recorder }
            try controller.performFetch()
            recorder.shown = Shown(controller)
            differences.ids = recorder.shown.ids
        }

        /// What a fetch in a fresh context finds, judged by the values of objects.
        func expected(in context: NSManagedObjectContext) throws -> Shown {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            if !setup.isRelated { request.predicate = controller.fetchRequest.predicate }
            var objects = try context.fetch(request)
            if setup.isRelated, let predicate = controller.fetchRequest.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
            let descriptors = controller.fetchRequest.sortDescriptors ?? []
            objects.sort { left, right in
                for descriptor in descriptors {
                    let order = descriptor.compare(left, to: right)
                    if order != .orderedSame { return order == .orderedAscending }
                }
                return left.objectID.key < right.objectID.key
            }
            if setup.limit > 0 { objects = Array(objects.dropFirst(setup.offset).prefix(setup.limit)) }
            var shown = Shown()
            for object in objects {
                let name = setup.sections.map { object.value(forKeyPath: $0) as? String ?? "" } ?? ""
                if shown.sections.last?.name != name { shown.sections.append(Shown.Section(name: name, ids: [])) }
                shown.sections[shown.sections.count - 1].ids.append(object.objectID)
            }
            if shown.sections.isEmpty && setup.sections == nil { shown.sections = [Shown.Section(name: "", ids: [])] }
            return shown
        }

        func check(_ expected: Shown, _ where: String) {
            let shown = Shown(controller)
            #expect(shown == expected, "\(`where`), \(setup)")
            if setup.takesDifferences {
                #expect(differences.ids == shown.ids && differences.others == 0, "followed by differences, \(`where`), \(setup)")
            } else {
                #expect(recorder.shown == shown, "followed, \(`where`), \(setup)")
            }
            for (section, content) in shown.sections.enumerated() {
                for (row, id) in content.ids.enumerated() {
                    let path = IndexPath(row: row, section: section)
                    #expect(controller.indexPath(forObject: controller.managedObjectContext.object(with: id)) == path)
                }
            }
        }
    }

    private struct Run {
        let stack: TestStack
        let main: NSManagedObjectContext
        var random: SeededRandom
        var next = 0

        mutating func edit(_ context: NSManagedObjectContext) throws {
            let people = try context.all("Person", sort: "name").sorted { $0.objectID.key < $1.objectID.key }
            let departments = try context.all("Department").sorted { $0.objectID.key < $1.objectID.key }
            next += 1
            guard let person = random.element(people), let department = random.element(departments), people.count > 4 else {
                context.make("Department", ["name": "d\(next % 4)", "budget": Double(next % 4)])
                for _ in 0..<3 {
                    next += 1
                    context.make("Person", ["name": "n\(random.next(upTo: 40))", "nick": "a", "age": random.next(upTo: 90)])
                }
                return
            }
            switch random.next(upTo: 11) {
            case 0: context.make("Person", ["name": "n\(random.next(upTo: 40))", "age": random.next(upTo: 90), "department": department])
            case 1: context.make("Engineer", ["name": "e\(random.next(upTo: 40))", "nick": "c"])
            case 2, 3: person.setValue("n\(random.next(upTo: 40))", forKey: "name")
            case 4: person.setValue(random.next(upTo: 90), forKey: "age")
            case 5: person.setValue(random.element(["a", "b", "c", "d"]), forKey: "nick")
            case 6: person.setValue(nil, forKey: "nick")
            case 7: person.setValue(random.next(upTo: 3) == 0 ? nil : department, forKey: "department")
            case 8:
                // Name and budget go together, so that the sections stay sorted.
                let number = random.next(upTo: 5)
                department.setValue("d\(number)", forKey: "name")
                department.setValue(Double(number), forKey: "budget")
            case 9: context.delete(random.next(upTo: 4) == 0 ? department : person)
            default: context.make("Skill")
            }
        }

        /// One event in the main context: edits there, a push from a worker, a save, or taking everything back.
        mutating func step() throws -> String {
            switch random.next(upTo: 14) {
            case 0:
                try main.save()
                return "main.save"
            case 1:
                try main.save()
                try stack.root.save()
                return "root.save"
            case 2:
                main.rollback()
                return "rollback"
            case 3 where random.next(upTo: 3) == 0:
                main.reset()
                return "reset"
            case 3:
                main.refreshAllObjects()
                return "refresh"
            case 4...8:
                let worker = stack.child(of: main, name: "worker")
                for _ in 0...random.next(upTo: 4) { try worker.performAndWait { () throws in try edit(worker) } }
                try worker.performAndWait { () throws in try worker.save() }
                return "push"
            default:
                for _ in 0...random.next(upTo: 4) { try edit(main) }
                main.processPendingChanges()
                return "edit"
            }
        }
    }

    // V1, V2, V3, V4, N28: whatever happens, the results are what a fresh fetch finds, and what was reported leads from the old list to the new one.
    @Test(.longComputation, arguments: 0..<2)
    func theResultsAreThoseOfAFreshFetchAndTheReportsLeadThere(_ part: Int) throws {
        let model = Company.model()
        for seed in part * 36..<(part + 1) * 36 {
            let stack = TestStack(model), main = stack.child(of: stack.root, name: "main")
            main.materializesNotificationObjects = seed % 2 == 0
            var run = Run(stack: stack, main: main, random: SeededRandom(seed: seed + 1))
            try holding(stack.root, main) { () throws in
                try run.edit(main)
                main.processPendingChanges()
                let all = try Setup.all.map { try Followed($0, in: main) }
                var history: [String] = []
                for _ in 0..<25 {
                    history.append(try run.step())
                    let reader = stack.child(of: main, name: "reader")
                    try reader.performAndWait { () throws in
                        for followed in all { followed.check(try followed.expected(in: reader), "seed \(seed): \(history.joined(separator: ", "))") }
                    }
                }
                // Saved to the store, a fresh fetch agrees also where it can see saved values only.
                try main.save()
                try stack.root.save()
                for followed in all {
                    let fresh = try Followed(followed.setup, in: main)
                    followed.check(Shown(fresh.controller), "seed \(seed): \(history.joined(separator: ", ")), saved")
                }
            }
        }
    }
}
