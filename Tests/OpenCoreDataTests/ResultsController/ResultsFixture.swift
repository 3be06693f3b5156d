import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// A controller of saved persons by nick and name, and a recorder that has seen nothing yet. On the queue of the stack's root.
struct ResultsFixture {
    let stack: TestStack
    let controller: NSFetchedResultsController<NSManagedObject>
    let recorder = ResultsRecorder()
    let people: [String: NSManagedObject]

    init(_ stack: TestStack, _ format: String?, _ names: [String]) throws {
        self.stack = stack
        var people: [String: NSManagedObject] = [:]
        for name in names { people[name] = stack.root.make("Person", ["name": name, "nick": String(name.prefix(1))]) }
        try stack.root.save()
        self.people = people
        controller = stack.root.persons(format, sort: ["nick", "name"], sections: "nick")
        controller.delegate = recorder
        try controller.performFetch()
        recorder.shown = Shown(controller)
    }

    func set(_ name: String, _ key: String, _ value: Any) { people[name]?.setValue(value, forKey: key) }

    func process() { stack.root.processPendingChanges() }

    /// Makes a stack and a fixture of these saved persons, and uses it on the queue of the stack's root.
    static func use(_ names: String..., format: String? = nil, body: (ResultsFixture) throws -> Void) throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in try body(try ResultsFixture(stack, format, names)) }
    }
}
