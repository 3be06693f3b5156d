import Foundation
import OpenCoreData
import Testing

/// A save is one transaction, and the file says what it did.
struct SQLiteSavingTests {
    // P16
    @Test func everyUpdateRaisesTheVersion() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let id = try fixture.insert("Person", ["name": .string("Ada"), "age": .int64(36)])
        for age in 37...39 {
            let base = try #require(try fixture.stored(id))
            var changes = ChangeSet()
            try changes.update(id, from: base, ["age": .int64(Int64(age))])
            let saved = try fixture.save(changes)
            #expect(saved.versions == [id: base.version + 1])
        }
        #expect(try fixture.shell.rows("SELECT ZNAME, ZAGE, Z_OPT FROM ZPERSON") == [["Ada", "39", "4"]])
    }

    @Test func onlyChangedColumnsAreWritten() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let id = try fixture.insert("Person", ["name": .string("Ada"), "age": .int64(36)])
        let base = try #require(try fixture.stored(id))
        // The row in memory has another name, but only the age is said to have changed.
        var changes = ChangeSet()
        let row = try base.copy().with(["name": .string("Eve"), "age": .int64(40)])
        changes.set(id, PendingRow(kind: .updated, row: row, changed: SlotSet([try #require(base.layout.slot(of: "age"))]), base: base))
        try fixture.save(changes)
        #expect(try fixture.shell.rows("SELECT ZNAME, ZAGE FROM ZPERSON") == [["Ada", "40"]])
    }

    // A6
    @Test func aChangeOfATransientAloneWritesNothing() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        let id = try fixture.insert("Thing", ["text": .string("a")])
        let base = try #require(try fixture.stored(id)), before = fixture.store.statements.current
        var changes = ChangeSet()
        try changes.update(id, from: base, ["hidden": .string("b")])
        #expect(try fixture.save(changes).versions.isEmpty)
        #expect((fixture.store.statements.current - before).total == 0)
        #expect(try fixture.shell.column("SELECT Z_OPT FROM ZTHING") == ["1"])
    }

    // P1, P4
    @Test func aNewerRowIsAConflictAndNothingIsWritten() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let first = try fixture.insert("Person", ["name": .string("Ada")]), second = try fixture.insert("Person", ["name": .string("Bo")])
        let gone = try fixture.insert("Person", ["name": .string("Cy")])
        let bases = try fixture.store.rows(for: [first, second, gone])
        var newer = ChangeSet()
        try newer.update(first, from: try #require(bases[first]), ["name": .string("Anna")])
        newer.delete(gone, base: bases[gone])
        try fixture.save(newer)

        var changes = ChangeSet()
        try changes.update(first, from: try #require(bases[first]), ["name": .string("Ann")])
        try changes.update(second, from: try #require(bases[second]), ["name": .string("Bob")])
        try changes.update(gone, from: try #require(bases[gone]), ["name": .string("Cyd")])
        let fresh = try fixture.insert("Person", ["name": .string("Di")], into: &changes)
        let error = #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        guard case .versions(let conflicts)? = error else {
            Issue.record("not a conflict of versions: \(String(describing: error))")
            return
        }
        #expect(Set(conflicts.map(\.id)) == [first, gone])
        #expect(conflicts.first { $0.id == first }?.stored?["name"] == .string("Anna"))
        #expect(conflicts.first { $0.id == first }?.stored?.version == 2)
        #expect(conflicts.contains { $0.id == gone && $0.stored == nil })
        // P15
        #expect(try fixture.stored(second)?["name"] == .string("Bo"))
        #expect(try fixture.stored(fresh) == nil)
    }

    // P1
    @Test func deletingANewerRowIsAConflict() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let id = try fixture.insert("Person", ["name": .string("Ada")])
        let base = try #require(try fixture.stored(id))
        var newer = ChangeSet()
        try newer.update(id, from: base, ["age": .int64(1)])
        try fixture.save(newer)
        var changes = ChangeSet()
        changes.delete(id, base: base)
        #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        #expect(try fixture.stored(id) != nil)
        // P7: without a base the row goes, whatever its version.
        changes.delete(id, base: nil)
        try fixture.save(changes)
        #expect(try fixture.stored(id) == nil)
    }

    // P9, P15
    @Test func rowsThatAreOnlyWatchedAreCheckedInTheTransaction() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let changed = try fixture.insert("Person", ["name": .string("Ada")]), gone = try fixture.insert("Person", ["name": .string("Bo")])
        let kept = try fixture.insert("Animal", ["name": .string("Cat")])
        let bases = try fixture.store.rows(for: [changed, gone, kept])
        var others = ChangeSet()
        try others.update(changed, from: try #require(bases[changed]), ["age": .int64(1)])
        others.delete(gone, base: bases[gone])
        try fixture.save(others)
        var changes = ChangeSet()
        let made = try fixture.insert("Person", ["name": .string("Di")], into: &changes)
        changes.watched = bases
        let error = #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        guard case .versions(let conflicts)? = error else {
            Issue.record("not a conflict of versions: \(String(describing: error))")
            return
        }
        #expect(Set(conflicts.map(\.id)) == [changed, gone])
        #expect(conflicts.first { $0.id == changed }?.stored?["age"] == .int64(1))
        #expect(conflicts.contains { $0.id == gone && $0.stored == nil })
        #expect(try fixture.stored(made) == nil)
        changes.watched = try fixture.store.rows(for: [changed, kept])
        #expect(try fixture.save(changes).version(of: made, .inserted) == 1)
        #expect(try fixture.store.rows(for: [changed, kept, made]).mapValues(\.version) == [changed: 2, kept: 1, made: 1])
    }

    // P7
    @Test func anUpdateWithoutABaseReplacesWhateverIsStored() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let id = try fixture.insert("Person", ["name": .string("Ada")])
        let base = try #require(try fixture.stored(id))
        for age in [1, 2] as [Int64] {
            var changes = ChangeSet()
            try changes.update(id, from: base, ["age": .int64(age)])
            var pending = try #require(changes[id])
            pending.base = nil
            changes.set(id, pending)
            #expect(try fixture.save(changes).versions == [id: age + 1])
        }
    }

    // P11
    @Test func everyKeyThatIsTakenIsReportedWithItsOwner() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let berlin = try fixture.insert("City", ["code": .string("BER"), "number": .int64(1)])
        var changes = ChangeSet()
        let again = try fixture.insert("City", ["code": .string("BER"), "number": .int64(2)], into: &changes)
        let twin = try fixture.insert("City", ["code": .string("PAR"), "number": .int64(3)], into: &changes)
        let other = try fixture.insert("City", ["code": .string("ROM"), "number": .int64(3)], into: &changes)
        let error = #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        guard case .constraints(let conflicts)? = error else {
            Issue.record("not a conflict of keys: \(String(describing: error))")
            return
        }
        #expect(conflicts.count == 2)
        let stored = try #require(conflicts.first { $0.constraint == 0 })
        #expect(stored.id == again && stored.owner == berlin && stored.key == .one(.string("BER")))
        #expect(stored.stored?["number"] == .int64(1))
        let inSave = try #require(conflicts.first { $0.constraint == 1 })
        #expect(Set([inSave.id, inSave.owner]) == [twin, other] && inSave.stored == nil)
        #expect(try fixture.fetch("City").map(\.id) == [berlin])
    }

    // P11
    @Test func keysOfSeveralAttributesAndOtherTypesAreReportedToo() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let uuid = UUID(), amount = Decimal(string: "12345678901234567890.5") ?? 0
        let pair = try fixture.insert("Pair", ["left": .string("a"), "right": .date(0.1)])
        let token = try fixture.insert("Token", ["uuid": .uuid(uuid), "amount": .decimal(amount)])
        try fixture.insert("Pair", ["left": .string("a"), "right": .date(0.2)])
        try fixture.insert("Pair", ["left": .string("a")])
        try fixture.insert("Pair", ["left": .string("a")])
        var changes = ChangeSet()
        try fixture.insert("Pair", ["left": .string("a"), "right": .date(0.1)], into: &changes)
        try fixture.insert("Token", ["uuid": .uuid(uuid), "amount": .decimal(1)], into: &changes)
        try fixture.insert("Token", ["amount": .decimal(amount)], into: &changes)
        let error = #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        guard case .constraints(let conflicts)? = error else { return }
        #expect(conflicts.map(\.owner.key).sorted() == [pair.key, token.key, token.key].sorted())
        #expect(conflicts.filter { $0.owner == token }.count == 2)
    }

    // P11
    @Test func aConstraintCoversTheEntityThatDeclaresItAndItsDescendants() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let owner = try fixture.insert("Labelled", ["serial": .int64(1), "tag": .string("x")])
        // The tag is unique among the labelled ones only.
        try fixture.insert("Plain", ["serial": .int64(2), "tag": .string("x")])
        try fixture.insert("Item", ["serial": .int64(3), "tag": .string("x")])
        for (name, values) in [("Plain", ["serial": .int64(1)]), ("Labelled", ["serial": .int64(4), "tag": .string("x")])]
            as [(String, [String: AttributeValue])]
        {
            let error = #expect(throws: StoreConflict.self) { try fixture.insert(name, values) }
            guard case .constraints(let conflicts)? = error else { continue }
            #expect(conflicts.map(\.owner) == [owner])
        }
    }

    // P13
    @Test func aKeyMayMoveFromADeletedRowToANewOneAndBetweenRows() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let first = try fixture.insert("City", ["code": .string("A"), "number": .int64(1)])
        let second = try fixture.insert("City", ["code": .string("B"), "number": .int64(2)])
        let third = try fixture.insert("City", ["code": .string("C"), "number": .int64(3)])
        let rows = try fixture.store.rows(for: [first, second, third])
        var changes = ChangeSet()
        changes.delete(first, base: rows[first])
        let heir = try fixture.insert("City", ["code": .string("A"), "number": .int64(1)], into: &changes)
        // The other two exchange their codes.
        try changes.update(second, from: try #require(rows[second]), ["code": .string("C")])
        try changes.update(third, from: try #require(rows[third]), ["code": .string("B")])
        let saved = try fixture.save(changes)
        #expect([second, third].map { saved.version(of: $0, .updated) } == [2, 2] && saved.version(of: heir, .inserted) == 1)
        #expect(try fixture.shell.rows("SELECT ZCODE, ZNUMBER FROM ZCITY ORDER BY ZCODE") == [["A", "1"], ["B", "3"], ["C", "2"]])
    }

    // P15, S12
    @Test func aSaveThatFailsAtItsEndLeavesNothingBehind() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        try fixture.insert("Token", ["uuid": .uuid(UUID()), "amount": .decimal(7)])
        var changes = ChangeSet()
        for number in 0..<100 { try fixture.insert("City", ["code": .string("c\(number)"), "number": .int64(Int64(number))], into: &changes) }
        // The table of Token is written after that of City.
        try fixture.insert("Token", ["amount": .decimal(7)], into: &changes)
        #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        #expect(try fixture.fetch("City").isEmpty)
        #expect(try fixture.fetch("Token").count == 1)
    }

    @Test func aLargeFirstLoadBuildsItsIndexesAfterwards() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let count = 20_500
        var changes = ChangeSet()
        for number in 0..<count {
            try fixture.insert("City", ["code": .string("c\(number)"), "number": .int64(Int64(number))], into: &changes)
        }
        let plenty = changes
        let extra = try fixture.insert("City", ["code": .string("c7")], into: &changes)
        let error = #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        if case .constraints(let conflicts)? = error { #expect(conflicts.count == 1 && (conflicts[0].id == extra || conflicts[0].owner == extra)) }
        #expect(try fixture.store.count(FetchPlan(entity: try fixture.entity("City"))) == 0)
        _ = try fixture.save(plenty)
        #expect(try fixture.store.count(FetchPlan(entity: try fixture.entity("City"))) == count)
        #expect(try fixture.shell.column("SELECT count(*) FROM sqlite_master WHERE type='index' AND tbl_name='ZCITY'") == ["2"])
        #expect(throws: StoreConflict.self) { try fixture.insert("City", ["code": .string("c8")]) }
        #expect(try fixture.shell.column("PRAGMA integrity_check") == ["ok"])
    }

    // X1
    @Test func theCounterOfKeysNeverFallsBehindTheRows() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let entity = try fixture.entity("Person")
        let far = NSManagedObjectID(entity: entity, key: 1 << 40, store: fixture.store.identity, isTemporary: true)
        var changes = ChangeSet()
        changes.set(far, PendingRow(kind: .inserted, row: try fixture.row("Person", [:])))
        try fixture.save(changes)
        let largest = try fixture.shell.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'")
        #expect(try #require(Int64(largest[0])) >= far.key)
        #expect(try fixture.newID("Person").key > far.key || fixture.newID("Person").key < 1 << 20)
    }

    @Test func aPrimaryKeyThatIsTakenIsNamed() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let id = try fixture.insert("Person", ["name": .string("Ada")])
        var changes = ChangeSet()
        changes.set(id, PendingRow(kind: .inserted, row: try fixture.row("Person", ["name": .string("Eve")])))
        let error = #expect(throws: NSError.self) { try fixture.save(changes) }
        #expect(error?.code == 134030)
        #expect(error?.localizedDescription.contains("already has a row \(id.key)") == true)
        #expect(try fixture.stored(id)?["name"] == .string("Ada"))
    }

    // R9
    @Test func aToOneIntoAnotherStoreIsRefused() throws {
        let fixture = try StoreFixture(StoreModels.animals()), stranger = try StoreFixture(StoreModels.animals())
        let there = try stranger.insert("Person", [:])
        let error = #expect(throws: NSError.self) { try fixture.insert("Animal", ["owner": one(there)]) }
        #expect(error?.code == 133010)
    }

    // S5
    @Test func metadataIsWrittenWithTheNextSave() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        #expect(!fixture.store.hasUnsavedMetadata)
        var metadata = try #require(fixture.store.metadata)
        metadata["city"] = "Bern"
        metadata[NSStoreUUIDKey] = "stolen"
        fixture.store.metadata = metadata
        #expect(fixture.store.hasUnsavedMetadata)
        #expect(try storedMetadata(at: fixture.file)["city"] == nil)
        try fixture.save(ChangeSet())
        #expect(!fixture.store.hasUnsavedMetadata)
        #expect(try storedMetadata(at: fixture.file)["city"] as? String == "Bern")
        #expect(fixture.store.metadata[NSStoreUUIDKey] as? String == fixture.store.identifier)
        fixture.store.metadata = metadata
        #expect(!fixture.store.hasUnsavedMetadata)
        try fixture.store.close()
        try NSPersistentStoreCoordinator.setMetadata(["city": "Basel"], type: .sqlite, at: fixture.file)
        let second = try fixture.second()
        #expect(second.metadata["city"] as? String == "Basel")
        #expect(second.identifier == fixture.store.identifier)
    }

    // T16
    @Test func anEmptySaveReachesNoFile() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let before = fixture.store.statements.current
        try fixture.save(ChangeSet())
        #expect(fixture.store.statements.current == before)
    }

    // Where nobody would find it nothing is written.
    @Test(arguments: ["", "-wal"]) func aSaveIntoAFileThatIsNotWhereItWasOpenedIsRefused(_ suffix: String) throws {
        let files = FileManager.default
        for way in ["deleted", "moved", "replaced"] {
            let fixture = try StoreFixture(StoreModels.animals())
            _ = try fixture.insert("Person", [:])
            let path = fixture.file.path + suffix
            switch way {
            case "deleted": try files.removeItem(atPath: path)
            case "moved": try files.moveItem(atPath: path, toPath: path + ".old")
            default:
                try files.moveItem(atPath: path, toPath: path + ".old")
                try files.copyItem(atPath: path + ".old", toPath: path)
            }
            let error = try #require(#expect(throws: NSError.self) { try fixture.insert("Person", [:]) })
            #expect(error.code == 134030 && (error.userInfo[NSSQLiteErrorDomain] as? NSNumber) == 1032)
            #expect(error.localizedDescription.contains("\(path) was moved, deleted or replaced"))
            #expect(SaveFailure(error) == .disk)
            if way == "moved" {
                try files.moveItem(atPath: path + ".old", toPath: path)
                _ = try fixture.insert("Person", [:])
            }
        }
    }
}
