import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// The collections that write through: whatever Foundation's classes can do, is done to the relationship.
@Suite struct MutableCollectionTests {
    /// A list of tracks `a`, `b`, `c`, with `d` and `e` in none.
    private struct Fixture {
        let stack = TestStack()
        var context: NSManagedObjectContext { stack.root }
        let list: NSManagedObject
        let tracks: [NSManagedObject]

        init() {
            let context = stack.root
            (list, tracks) = context.performAndWait {
                let tracks = ["a", "b", "c", "d", "e"].map { context.make("Track", ["title": $0]) }
                return (context.make("Playlist", ["tracks": NSOrderedSet(array: Array(tracks[0..<3]))]), tracks)
            }
        }

        subscript(name: Character) -> NSManagedObject { tracks[Int(name.asciiValue ?? 0) - Int(UInt8(ascii: "a"))] }
        func objects(_ names: String) -> [NSManagedObject] { names.map { self[$0] } }
        var set: NSMutableOrderedSet { list.mutableOrderedSetValue(forKey: "tracks") }

        func names(_ objects: [Any]) -> String {
            objects.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String ?? "?" }.joined()
        }

        /// The titles, as the relationship has them.
        var stored: String { names((list.value(forKey: "tracks") as? NSOrderedSet)?.array ?? []) }
    }

    private struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let result: String
        let change: @Sendable (NSMutableOrderedSet, Fixture) -> Void

        init(_ name: String, _ result: String, _ change: @escaping @Sendable (NSMutableOrderedSet, Fixture) -> Void) {
            (testDescription, self.result, self.change) = (name, result, change)
        }
    }

    private static let changes: [Change] = [
        Change("add", "abcd") { $0.add($1["d"]) },
        Change("add one that is there", "abc") { $0.add($1["a"]) },
        Change("add by pointer", "abcde") { set, it in
            it.objects("de").map { $0 as AnyObject }.withUnsafeBufferPointer { set.add($0.baseAddress, count: $0.count) }
        },
        Change("addObjects", "abcde") { $0.addObjects(from: $1.objects("dbe")) },
        Change("insert", "adbc") { $0.insert($1["d"], at: 1) },
        Change("insert one that is there", "abc") { $0.insert($1["c"], at: 0) },
        Change("insert at indexes", "dabec") { $0.insert($1.objects("de"), at: [0, 3]) },
        Change("removeObject(at:)", "ac") { set, _ in set.removeObject(at: 1) },
        Change("remove", "bc") { $0.remove($1["a"]) },
        Change("remove one that is not there", "abc") { $0.remove($1["e"]) },
        Change("removeObjects(in: array)", "b") { $0.removeObjects(in: $1.objects("cea")) },
        Change("removeObjects(in: range)", "c") { set, _ in set.removeObjects(in: NSRange(location: 0, length: 2)) },
        Change("removeObjects(at:)", "b") { set, _ in set.removeObjects(at: [0, 2]) },
        Change("removeAllObjects", "") { set, _ in set.removeAllObjects() },
        Change("replaceObject", "adc") { $0.replaceObject(at: 1, with: $1["d"]) },
        Change("replace with one that is there", "abc") { $0.replaceObject(at: 1, with: $1["a"]) },
        Change("by subscript", "abe") { $0[2] = $1["e"] },
        Change("setObject at the end", "abcd") { $0.setObject($1["d"], at: 3) },
        Change("replaceObjects(at:)", "dbe") { $0.replaceObjects(at: [0, 2], with: $1.objects("de")) },
        Change("replaceObjects(at:) by each other", "bac") { $0.replaceObjects(at: [0, 1], with: $1.objects("ba")) },
        Change("replaceObjects(at:) with one that moves", "bdc") { $0.replaceObjects(at: [0, 1], with: $1.objects("bd")) },
        Change("replaceObjects(in:)", "dec") { set, it in
            it.objects("de").map { $0 as AnyObject }.withUnsafeBufferPointer {
                set.replaceObjects(in: NSRange(location: 0, length: 2), with: $0.baseAddress, count: 2)
            }
        },
        Change("exchangeObject", "cba") { set, _ in set.exchangeObject(at: 0, withObjectAt: 2) },
        Change("moveObjects", "cab") { set, _ in set.moveObjects(at: [0, 1], to: 1) },
        Change("intersect", "c") { $0.intersect(NSOrderedSet(array: $1.objects("ce"))) },
        Change("minus", "ab") { $0.minus(NSOrderedSet(array: $1.objects("ce"))) },
        Change("union", "abce") { $0.union(NSOrderedSet(array: $1.objects("ce"))) },
        Change("intersectSet", "c") { $0.intersectSet(Set($1.objects("ce"))) },
        Change("minusSet", "ab") { $0.minusSet(Set($1.objects("ce"))) },
        Change("unionSet", "abce") { $0.unionSet(Set($1.objects("ce"))) },
        Change("minus itself", "") { set, _ in set.minus(set) },
        Change("sort(using:)", "cba") { set, _ in set.sort(using: [NSSortDescriptor(key: "title", ascending: false)]) },
        Change("sort(comparator:)", "cba") { set, it in set.sort { it.names([$1]).compare(it.names([$0])) } },
        Change("sortRange", "acb") { set, it in
            set.sortRange(NSRange(location: 1, length: 2)) { it.names([$1]).compare(it.names([$0])) }
        },
    ]

    // R3
    @Test(arguments: changes) private func everyChangeOfAnOrderedSetReachesTheRelationship(_ change: Change) throws {
        let fixture = Fixture()
        try fixture.context.performAndWait { () throws in
            let set = fixture.set
            change.change(set, fixture)
            #expect(fixture.stored == change.result)
            #expect(fixture.names(set.array) == change.result && fixture.names(Array(set)) == change.result)
            for track in fixture.tracks {
                #expect((track.value(forKey: "playlist") as? NSManagedObject == fixture.list) == change.result.contains(fixture.names([track])))
            }
            try fixture.context.save()
            fixture.context.refreshAllObjects()
            #expect(fixture.stored == change.result)
        }
    }

    // R3
    @Test func anOrderedSetReadsAsTheRelationshipDoes() {
        let fixture = Fixture()
        fixture.context.performAndWait {
            let set = fixture.set, b = fixture["b"]
            #expect(set.count == 3 && set.contains(b) && !set.contains(fixture["e"]))
            #expect(set.index(of: b) == 1 && set.index(of: fixture["e"]) == NSNotFound && set.object(at: 1) as? NSManagedObject == b)
            #expect(set.firstObject as? NSManagedObject == fixture["a"] && set.lastObject as? NSManagedObject == fixture["c"])
            #expect(fixture.names(set.map { $0 }) == "abc" && fixture.names(set.reversed.array) == "cba" && set.set.count == 3)
            #expect(fixture.names(set.reverseObjectEnumerator().map { $0 }) == "cba")
            var seen: [Any] = []
            set.enumerateObjects { object, _, _ in seen.append(object) }
            #expect(fixture.names(seen) == "abc")
            #expect(set.isEqual(NSOrderedSet(array: fixture.objects("abc"))) && !set.isEqual(NSOrderedSet(array: fixture.objects("acb"))))
            #expect(set.intersects(NSOrderedSet(array: [b])) && set.isSubset(of: Set(fixture.tracks)))
            #expect(fixture.names((set.copy() as? NSOrderedSet)?.array ?? []) == "abc")
            #expect(fixture.names((set.mutableCopy() as? NSOrderedSet)?.array ?? []) == "abc")
            #expect(fixture.names(set.sortedArray(using: [NSSortDescriptor(key: "title", ascending: false)])) == "cba")
            #expect(set.description.contains("Track"))
        }
    }

    // R3
    @Test func anOrderedSetSeesWhatIsChangedBesideIt() {
        let fixture = Fixture()
        fixture.context.performAndWait {
            let set = fixture.set
            fixture["d"].setValue(fixture.list, forKey: "playlist")
            fixture["a"].setValue(nil, forKey: "playlist")
            #expect(set.contains(fixture["d"]) && !set.contains(fixture["a"]) && set.count == 3)
            #expect(fixture.names(set.array) == fixture.stored)
        }
    }

    // R3
    @Test func everyChangeOfASetReachesTheRelationship() {
        let stack = TestStack()
        stack.root.performAndWait {
            let looms = stack.root.make("Department"), people = (0..<4).map { stack.root.make("Person", ["name": "\($0)"]) }
            let set = looms.mutableSetValue(forKey: "employees")
            func expect(_ numbers: Int..., sourceLocation: SourceLocation = #_sourceLocation) {
                let wanted = Set(numbers.map { people[$0] })
                #expect(looms.value(forKey: "employees") as? Set<NSManagedObject> == wanted, sourceLocation: sourceLocation)
                #expect(
                    Set(set.allObjects.compactMap { $0 as? NSManagedObject }) == wanted && set.count == wanted.count, sourceLocation: sourceLocation)
            }
            set.addObjects(from: Array(people[0..<3]))
            expect(0, 1, 2)
            #expect(set.description.contains("Person"))
            set.minus([people[0], people[3]])
            expect(1, 2)
            set.union([people[0], people[3]])
            expect(0, 1, 2, 3)
            set.intersect([people[1], people[3]])
            expect(1, 3)
            set.setSet([people[2]])
            expect(2)
            set.removeAllObjects()
            expect()
        }
    }
}
