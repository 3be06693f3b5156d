import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct PersistentStoreDescriptionTests {
    // O1
    @Test func theDefaultsOfADescription() {
        let description = NSPersistentStoreDescription()
        #expect(description.type == NSSQLiteStoreType && description.url == nil && description.configuration == nil)
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(!description.shouldAddStoreAsynchronously && !description.isReadOnly && description.sqlitePragmas.isEmpty)
        #expect(NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a")).url?.path == "/tmp/a")
    }

    // O1
    @Test func propertiesAndOptionsAreTheSame() {
        let description = NSPersistentStoreDescription()
        description.isReadOnly = true
        description.timeout = 3
        description.shouldMigrateStoreAutomatically = false
        description.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
        #expect((description.options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true)
        #expect((description.options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue == 3)
        #expect((description.options[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue == false)
        #expect(description.sqlitePragmas == ["synchronous": "NORMAL" as NSString])
        description.setOption(NSNumber(value: false), forKey: NSReadOnlyPersistentStoreOption)
        description.setOption(nil, forKey: NSPersistentStoreTimeoutOption)
        description.setValue(nil, forPragmaNamed: "synchronous")
        #expect(!description.isReadOnly && description.timeout == 10 && description.options[NSSQLitePragmasOption] == nil)
    }

    // O1
    @Test func aCopyIsEqualAndApart() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a"))
        description.setOption(NSNumber(value: true), forKey: NSReadOnlyPersistentStoreOption)
        description.configuration = "one"
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy == description && copy !== description && copy.hash == description.hash)
        copy.isReadOnly = false
        #expect(copy != description && description.isReadOnly)
    }

    // O1, S6
    @Test func anOptionThatTheStoreWouldIgnoreIsRefusedByName() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        description.setOption(NSNumber(value: true), forKey: "NSPersistentHistoryTrackingKeyOfSomething")
        var failures: [NSError?] = []
        coordinator.addPersistentStore(with: description) { failures.append($1 as NSError?) }
        #expect(failures.count == 1 && failures[0]?.code == 134080 && coordinator.persistentStores.isEmpty)
        #expect(failures[0]?.localizedDescription.contains("NSPersistentHistoryTrackingKeyOfSomething") == true)
        let inMemory = NSPersistentStoreDescription()
        inMemory.type = NSInMemoryStoreType
        inMemory.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
        coordinator.addPersistentStore(with: inMemory) { failures.append($1 as NSError?) }
        #expect(failures.count == 2 && failures[1]?.localizedDescription.contains(NSSQLitePragmasOption) == true)
        inMemory.setValue(nil, forPragmaNamed: "synchronous")
        coordinator.addPersistentStore(with: inMemory) { failures.append($1 as NSError?) }
        #expect(failures.count == 3 && failures[2] == nil && coordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
    }

    // O1
    @Test func sqliteWithoutAFileIsInMemory() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        coordinator.addPersistentStore(with: description) { #expect($1 == nil) }
        #expect(coordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
    }

    // O1, S4
    @Test func anUnknownTypeIsHandedToTheHandler() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/granite"))
        description.type = "Granite"
        var code = 0
        coordinator.addPersistentStore(with: description) { code = ($1 as NSError?)?.code ?? -1 }
        #expect(code == 134000)
    }
}
