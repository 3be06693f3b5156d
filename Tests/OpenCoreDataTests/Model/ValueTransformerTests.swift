import OpenCoreData
import OpenCoreDataTestSupport
import Testing

// Adopts NSCoding alone.
final class TransformedInsecure: NSObject, NSCoding {
    init?(coder: NSCoder) {}
    override init() {}
    func encode(with coder: NSCoder) {}
}

// Written once.
final class TransformedInk: NSObject, NSSecureCoding {
    let name: String

    init(_ name: String) { self.name = name }
    init?(coder: NSCoder) { name = coder.decodeObject(forKey: "name") as? String ?? "?" }
    func encode(with coder: NSCoder) { coder.encode(name, forKey: "name") }
    static var supportsSecureCoding: Bool { true }
    override func isEqual(_ object: Any?) -> Bool { (object as? TransformedInk)?.name == name }
    override var hash: Int { name.hashValue }
}

// Without state.
final class TopLevelTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).map { String(decoding: $0, as: UTF8.self) } }
}

/// Transformers, and the attributes that name them.
@Suite struct ValueTransformerTests {
    /// A colour, which no archive knows.
    struct Colour: Hashable {
        var red: UInt8
        var green: UInt8
    }

    // Without state.
    final class ColourTransformer: ValueTransformer, @unchecked Sendable {
        override class func transformedValueClass() -> AnyClass { NSData.self }

        override func transformedValue(_ value: Any?) -> Any? { (value as? Colour).map { Data([$0.red, $0.green]) } }

        override func reverseTransformedValue(_ value: Any?) -> Any? {
            guard let data = value as? Data, data.count == 2 else { return nil }
            return Colour(red: data[data.startIndex], green: data[data.startIndex + 1])
        }
    }

    private static func model(_ transformer: String?) -> NSManagedObjectModel {
        let colour = StoreModels.attribute("colour", .transformable)
        colour.valueTransformerName = transformer
        colour.preservesValueInHistoryOnDeletion = true
        return NSManagedObjectModel(entities: [StoreModels.entity("Pen", [StoreModels.attribute("name", .string), colour])])
    }

    /// A name of its own for each test: they run beside each other.
    private static func registered(_ transformer: ValueTransformer = ColourTransformer()) -> String {
        let name = "Colour \(UUID().uuidString)"
        ValueTransformer.setValueTransformer(transformer, forName: NSValueTransformerName(name))
        return name
    }

    @discardableResult
    private static func pen(_ colour: Any?, in context: NSManagedObjectContext) -> NSManagedObject {
        let pen: NSManagedObject = context.make("Pen")
        pen.setValue(colour, forKey: "colour")
        return pen
    }

    /// With what a fetch from the file fails.
    private static func complaint(in world: BatchWorld) -> String? {
        let fresh = world.fresh()
        world.coordinator.rowCache.removeAll()
        return #expect(throws: NSError.self) { try fresh.performAndWait { () throws in _ = try fresh.all("Pen") } }?.localizedDescription
    }

    // A7
    @Test func aStoreKeepsWhatTheTransformerMakes() throws {
        let world = try BatchWorld(.file, Self.model(Self.registered()))
        try world.save { Self.pen(Colour(red: 1, green: 255), in: $0) }
        #expect(try world.shell.column("SELECT hex(ZCOLOUR) FROM ZPEN") == ["01FF"])
        let fresh = world.fresh()
        try fresh.performAndWait { () throws in
            world.coordinator.rowCache.removeAll()
            let pen = try #require(try fresh.all("Pen").first)
            #expect(pen.value(forKey: "colour") as? Colour == Colour(red: 1, green: 255))
        }
        try world.execute(batchUpdate("Pen", nil, ["colour": Colour(red: 2, green: 3)]))
        #expect(try world.shell.column("SELECT hex(ZCOLOUR) FROM ZPEN") == ["0203"])
        try world.insert("Pen", [["colour": Colour(red: 4, green: 5)]])
        #expect(try world.shell.column("SELECT hex(ZCOLOUR) FROM ZPEN ORDER BY Z_PK") == ["0203", "0405"])
    }

    // A7, H6
    @Test func theHistoryKeepsTheValueOfWhatIsDeleted() throws {
        let world = try BatchWorld(.file, Self.model(Self.registered()))
        try world.save { Self.pen(Colour(red: 1, green: 2), in: $0) }
        let token = world.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try world.save { context in try context.all("Pen").forEach(context.delete) }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let transactions = try #require(try world.execute(request, as: NSPersistentHistoryResult.self).result as? [NSPersistentHistoryTransaction])
        #expect(transactions.first?.changes?.first?.tombstone?["colour"] as? Colour == Colour(red: 1, green: 2))
    }

    // A7
    @Test func aTransformerThatNobodyRegisteredIsNamedAndNothingIsWritten() throws {
        let name = Self.registered(), world = try BatchWorld(.file, Self.model(name))
        try world.save { Self.pen(Colour(red: 1, green: 2), in: $0) }
        ValueTransformer.setValueTransformer(nil, forName: NSValueTransformerName(name))
        let missing =
            "Pen.colour names the value transformer \"\(name)\", which nobody has registered. Call ValueTransformer.setValueTransformer(_:forName:) "
            + "before the store is added."
        let error = #expect(throws: NSError.self) { try world.save { Self.pen("red", in: $0) } }
        #expect(error?.code == 134_030 && error?.localizedDescription == missing)
        world.context.performAndWait { world.context.reset() }
        #expect(try world.shell.column("SELECT count(*) FROM ZPEN") == ["1"])
        #expect(Self.complaint(in: world) == "Row 1 of ZPEN can't be read. \(missing)")
        // What has none needs none.
        try world.execute(batchDelete("Pen"))
        try world.save { Self.pen(nil, in: $0) }
    }

    // A7
    @Test func aValueThatATransformerMakesNothingOfIsRefused() throws {
        let name = Self.registered(), world = try BatchWorld(.file, Self.model(name))
        let error = #expect(throws: NSError.self) { try world.save { Self.pen("red", in: $0) } }
        #expect(
            error?.localizedDescription == "The value transformer \"\(name)\" makes no data of the value of Pen.colour, which has type String.")
        world.context.performAndWait { world.context.reset() }
        try world.save { Self.pen(Colour(red: 1, green: 2), in: $0) }
        _ = try world.shell.rows("UPDATE ZPEN SET ZCOLOUR = x'010203'")
        let sentence = "Row 2 of ZPEN can't be read. The value transformer \"\(name)\" makes no value of what is stored of Pen.colour."
        #expect(Self.complaint(in: world) == sentence)
    }

    // A7
    @Test func aDamagedArchiveIsAnErrorOfTheFetch() throws {
        let world = try BatchWorld(.file, Self.model(nil))
        try world.save { Self.pen(["a", "b"], in: $0) }
        // Its last 32 bytes say where everything is.
        _ = try world.shell.rows("UPDATE ZPEN SET ZCOLOUR = CAST(substr(ZCOLOUR, 1, length(ZCOLOUR) - 32) || zeroblob(32) AS BLOB)")
        #expect(Self.complaint(in: world) == "The stored value of Pen.colour in row 1 of ZPEN is not a Transformable.")
    }

    // A7: what the editor writes where nothing else is chosen.
    @Test func theSecureOneArchivesPlainValues() throws {
        let world = try BatchWorld(.file, Self.model("NSSecureUnarchiveFromData"))
        let values: [AnyHashable] = ["a", ["x", "y"], ["k": "v"], Date(timeIntervalSinceReferenceDate: 1)]
        try world.save { context in for value in values { Self.pen(value, in: context) } }
        let fresh = world.fresh()
        try fresh.performAndWait { () throws in
            world.coordinator.rowCache.removeAll()
            let found = try fresh.all("Pen").sorted { $0.objectID.key < $1.objectID.key }.map { $0.value(forKey: "colour") }
            #expect(found.count == 4 && found[0] as? String == "a" && found[1] as? [String] == ["x", "y"])
            #expect(found[2] as? [String: String] == ["k": "v"] && found[3] as? Date == Date(timeIntervalSinceReferenceDate: 1))
        }
        // An archive that any keyed archiver reads.
        #expect(try world.shell.column("SELECT substr(ZCOLOUR, 1, 8) FROM ZPEN WHERE Z_PK = 1") == ["bplist00"])
        for value in [Colour(red: 1, green: 2), Nested()] as [AnyHashable] {
            #expect(throws: NSError.self) { try world.save { Self.pen(value, in: $0) } }
            world.context.performAndWait { world.context.reset() }
        }
    }

    // No archive can name a class within another type.
    final class Nested: NSObject, NSCoding {
        override init() {}
        init?(coder: NSCoder) {}
        func encode(with coder: NSCoder) {}
    }

    // Without state.
    final class InkTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
        override class var allowedTopLevelClasses: [AnyClass] { [TransformedInk.self] }
    }

    // A7
    @Test func aSubclassOfTheSecureOneNamesItsClasses() throws {
        let world = try BatchWorld(.file, Self.model(Self.registered(InkTransformer())))
        try world.save { Self.pen(TransformedInk("blue"), in: $0) }
        let fresh = world.fresh()
        try fresh.performAndWait { () throws in
            world.coordinator.rowCache.removeAll()
            #expect(try (fresh.all("Pen").first?.value(forKey: "colour") as? TransformedInk)?.name == "blue")
        }
        #expect(throws: NSError.self) { try world.save { Self.pen("blue", in: $0) } }
    }

    @Test func anArchiveOfAnotherClassIsNothing() throws {
        let plain = NSSecureUnarchiveFromDataTransformer(), ink = InkTransformer()
        func archive(_ value: Any) throws -> Data { try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false) }
        let blue = try archive(TransformedInk("x")), list = try archive(["x"])
        #expect(plain.transformedValue(blue) == nil && ink.transformedValue(list) == nil)
        #expect((ink.transformedValue(blue) as? TransformedInk)?.name == "x")
        // Within a list, a class that says that any archive will do is let in, and no other.
        let secure = try archive([TransformedInk("x")] as NSArray), insecure = try archive([TransformedInsecure()] as NSArray)
        #expect(plain.transformedValue(secure) is NSArray && plain.transformedValue(insecure) == nil)
        #expect(plain.transformedValue(Data("no archive".utf8)) == nil && plain.transformedValue(nil) == nil)
    }

    // A7
    @Test func aTransformerThatDoesNotGoBackKeepsNothing() throws {
        let name = Self.registered(OneWayTransformer()), world = try BatchWorld(.file, Self.model(name))
        let error = #expect(throws: NSError.self) { try world.save { Self.pen("x", in: $0) } }
        #expect(error?.localizedDescription.contains("\"\(name)\" of Pen.colour does not transform back") == true)
    }

    // Without state.
    final class OneWayTransformer: ValueTransformer, @unchecked Sendable {
        override class func allowsReverseTransformation() -> Bool { false }
        override func transformedValue(_ value: Any?) -> Any? { Data([1]) }
    }

    // A7: as Foundation finds it.
    @Test(arguments: [
        "TopLevelTransformer", "OpenCoreDataTests.TopLevelTransformer", "NSSecureUnarchiveFromDataTransformer",
        "NSSecureUnarchiveFromDataTransformerName", "NSKeyedUnarchiveFromData",
    ])
    func aClassOfTheNameIsATransformer(_ name: String) throws {
        let world = try BatchWorld(.file, Self.model(name))
        try world.save { Self.pen("x", in: $0) }
        let fresh = world.fresh()
        try fresh.performAndWait { () throws in
            world.coordinator.rowCache.removeAll()
            #expect(try fresh.all("Pen").first?.value(forKey: "colour") as? String == "x")
        }
    }

    // A7: Foundation's archiver stops the program at these.
    @Test func whatTheArchiverStopsAtIsRefused() throws {
        let world = try BatchWorld(.file, Self.model(nil))
        let values: [AnyHashable] = [
            NSDecimalNumber(string: "1.5"), ["price": NSDecimalNumber(string: "1.5")] as [String: NSDecimalNumber],
            NSOrderedSet(array: [1, Colour(red: 1, green: 2)]), Nested(),
        ]
        for value in values {
            let error = #expect(throws: NSError.self) { try world.save { Self.pen(value, in: $0) } }
            #expect(error?.localizedDescription.contains("which can't be archived") == true)
            world.context.performAndWait { world.context.reset() }
        }
    }

    // A7
    @Test func noExpressionIsAValueThatATransformerMade() throws {
        let world = try BatchWorld(.file, Self.model(Self.registered()))
        try world.save { Self.pen(Colour(red: 1, green: 2), in: $0) }
        #expect(throws: NSError.self) { try world.execute(batchUpdate("Pen", nil, ["colour": NSExpression(forKeyPath: "name")])) }
        #expect(try world.shell.column("SELECT hex(ZCOLOUR) FROM ZPEN") == ["0102"])
    }

    @Test func transformersAreKnownByTheirNames() throws {
        let name = NSValueTransformerName(Self.registered())
        #expect(ValueTransformer(forName: name) is ColourTransformer && ValueTransformer.valueTransformerNames().contains(name))
        #expect(ColourTransformer(forName: name) === ValueTransformer(forName: name))
        #expect(InkTransformer(forName: name) == nil && ValueTransformer(forName: NSValueTransformerName("nobody")) == nil)
        let negate = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
        #expect(negate.transformedValue(true) as? Bool == false && negate.reverseTransformedValue(false) as? Bool == true)
        #expect(ValueTransformer(forName: .isNilTransformerName)?.transformedValue(nil) as? Bool == true)
        #expect(ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue(1) as? Bool == true)
        let isNil = try #require(ValueTransformer(forName: .isNilTransformerName))
        #expect(!Swift.type(of: isNil).allowsReverseTransformation())
    }
}
