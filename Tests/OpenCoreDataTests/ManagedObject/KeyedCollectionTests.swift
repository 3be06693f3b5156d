import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

final class Watching: NSManagedObject {
    var announced: [String] = []
    override func willChangeValue(forKey key: String) {
        announced.append("will \(key)")
        super.willChangeValue(forKey: key)
    }
    override func didChangeValue(forKey key: String) {
        announced.append("did \(key)")
        super.didChangeValue(forKey: key)
    }
    override func setNilValueForKey(_ key: String) { setValue(-1, forKey: key) }
    @Managed var a: Int64
    override class var keyedAccessors: [KeyedAccessor] { [KeyedAccessor("a", \Watching.a)] }
}

/// Collections that write through by key and key path, and what a class is asked by key-value coding.
@Suite struct KeyedCollectionTests {
    @Test func anArrayOfAnOrderedToManyWritesThrough() throws {
        let stack = TestStack()
        stack.root.performAndWait {
            let list = stack.root.make("Playlist"), tracks = (0..<3).map { stack.root.make("Track", ["title": "\($0)"]) }
            let array = list.mutableArrayValue(forKey: "tracks")
            array.addObjects(from: tracks)
            array.removeObject(at: 0)
            array.insert(tracks[0], at: 1)
            #expect((list.value(forKey: "tracks") as? NSOrderedSet)?.array as? [NSManagedObject] == [tracks[1], tracks[0], tracks[2]])
            #expect(array.count == 3 && array.object(at: 2) as? NSManagedObject === tracks[2])
            #expect(tracks[0].value(forKey: "playlist") as? NSManagedObject === list)
            let same = tracks[2].mutableArrayValue(forKeyPath: "playlist.tracks")
            same.removeLastObject()
            #expect(array.count == 2 && tracks[2].value(forKey: "playlist") == nil)
        }
    }

    @Test func whatIsNoListIsNotTakenForAnEmptyOne() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            stack.root.performAndWait {
                let looms = stack.root.make("Department"), ada = stack.root.make("Person")
                ada.setValue(looms, forKey: "department")
                looms.mutableArrayValue(forKey: "employees").add(stack.root.make("Person"))
            }
        }
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            stack.root.performAndWait { stack.root.make("Person", ["name": "Ada"]).mutableArrayValue(forKey: "name").add("Bob") }
        }
    }

    @Test func collectionsAreFoundByKeyPath() throws {
        let stack = TestStack()
        stack.root.performAndWait {
            let looms = stack.root.make("Department"), ada = stack.root.make("Person"), bob = stack.root.make("Person")
            ada.setValue(looms, forKey: "department")
            ada.mutableSetValue(forKeyPath: "department.employees").add(bob)
            #expect(bob["department"] as? NSManagedObject === looms)
            let list = stack.root.make("Playlist"), track = stack.root.make("Track")
            track.setValue(list, forKey: "playlist")
            track.mutableOrderedSetValue(forKeyPath: "playlist.tracks").removeAllObjects()
            #expect(track["playlist"] == nil)
        }
    }

    @Test func aValueAtTheEndOfAKeyPathIsCheckedByWhoHasIt() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let looms = stack.root.make("Department"), ada = stack.root.make("Person")
            func check(_ path: String, _ value: AnyObject?) throws {
                var value = value
                try withUnsafeMutablePointer(to: &value) { try ada.validateValue(AutoreleasingUnsafeMutablePointer($0), forKeyPath: path) }
            }
            // Nobody has it.
            try check("department.name", nil)
            ada.setValue(looms, forKey: "department")
            let error = #expect(throws: (any Error).self) { try check("department.name", nil) } as NSError?
            #expect(error?.code == 1570)
            try check("department.name", "Looms" as AnyObject)
            #expect((#expect(throws: (any Error).self) { try check("name", nil) } as NSError?)?.code == 1570)
        }
    }

    @Test func aClassMayOverrideWhatIsAnnouncedAndWhatNilMeans() throws {
        let model = Company.model(), item = try #require(model.entitiesByName["Item"])
        item.setManagedObjectClass(Watching.self)
        let stack = TestStack(model)
        try stack.root.performAndWait { () throws in
            let item = try #require(stack.root.make("Item", ["a": 3]) as? Watching)
            item.willChangeValue(forKey: "b", withSetMutation: .union, using: [])
            item.setPrimitiveValue(4, forKey: "b")
            item.didChangeValue(forKey: "b", withSetMutation: .union, using: [])
            #expect(item.announced == ["will b", "did b"] && item.value(forKey: "b") as? Int == 4)
            item.setValue(nil, forKey: "a")
            #expect(item.a == -1)
        }
    }
}
