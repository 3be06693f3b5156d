import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Fetch requests that a model keeps by name.
@Suite struct FetchRequestTemplateTests {
    /// Items between two bounds, by key.
    private func model() -> NSManagedObjectModel {
        let model = Company.model(), request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.predicate = NSPredicate(format: "a >= $LEAST AND (b < $BOUND OR c == $BOUND)")
        request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
        model.setFetchRequestTemplate(request, forName: "between")
        // The model has a copy.
        request.predicate = nil
        return model
    }

    private func keys(_ request: NSFetchRequest<any NSFetchRequestResult>?, in context: NSManagedObjectContext) throws -> [String] {
        try context.fetch(try #require(request)).compactMap { ($0 as? NSManagedObject)?.value(forKey: "key") as? String }
    }

    // F16
    @Test func aTemplateIsFilledIn() throws {
        let model = model(), stack = TestStack(model)
        try stack.root.performAndWait { () throws in
            for number in 0..<6 {
                let item = stack.root.make("Item")
                item.setValue("\(number)", forKey: "key")
                for name in ["a", "b", "c"] { item.setValue(number, forKey: name) }
            }
            try stack.root.save()
            func request(_ least: Int, _ bound: Int) -> NSFetchRequest<any NSFetchRequestResult>? {
                model.fetchRequestFromTemplate(withName: "between", substitutionVariables: ["LEAST": least, "BOUND": bound])
            }
            #expect(try keys(request(1, 3), in: stack.root) == ["1", "2", "3"])
            #expect(try keys(request(4, 9), in: stack.root) == ["4", "5"])
            #expect(model.fetchRequestFromTemplate(withName: "nothing", substitutionVariables: [:]) == nil)
        }
    }

    // F16
    @Test func aVariableWithoutAValueIsAnErrorOfTheFetch() throws {
        let model = model(), stack = TestStack(model)
        try stack.root.performAndWait { () throws in
            _ = stack.root.make("Item")
            let request = try #require(model.fetchRequestFromTemplate(withName: "between", substitutionVariables: ["LEAST": 1]))
            let error = #expect(throws: (any Error).self) { try stack.root.fetch(request) }
            #expect((error as NSError?)?.localizedDescription.contains("$BOUND") == true)
        }
    }

    // F16
    @Test func whoeverReadsATemplateGetsACopy() throws {
        let model = model(), stack = TestStack(model)
        let read = try #require(model.fetchRequestTemplate(forName: "between"))
        read.predicate = nil
        model.fetchRequestTemplatesByName["between"]?.fetchLimit = 1
        #expect(model.fetchRequestTemplate(forName: "between")?.predicate != nil)
        #expect(model.fetchRequestTemplate(forName: "between")?.fetchLimit == 0)
        withExtendedLifetime(stack) {}
    }

    // F16
    @Test func aTemplateIsForgotten() {
        let model = model()
        model.setFetchRequestTemplate(nil, forName: "between")
        #expect(model.fetchRequestTemplatesByName.isEmpty && model.fetchRequestTemplate(forName: "between") == nil)
    }

    // A2, F16
    @Test func inAModelInUseNoTemplateIsSet() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = Company.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.setFetchRequestTemplate(NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"), forName: "items")
        }.trap(says: "can't change the model")
    }
}
