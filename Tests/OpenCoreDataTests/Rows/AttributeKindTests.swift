import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Two kinds of attributes that Core Data does not have. All that is said of them stands here.
extension AttributeKind {
    fileprivate static let unsigned32 = integer("Unsigned 32", 0...Int64(UInt32.max))
    /// A text without regard to case.
    fileprivate static let word = AttributeKind("Word", column: .string, compared: .string, form: nil) { value in
        (value as? String).map { .string($0.lowercased()) }
    }
}

/// A type of attribute is one entry in a table: everything else asks there.
@Suite struct AttributeKindTests {
    private let stack: SQLiteStack

    init() throws {
        let model = NSManagedObjectModel(), host = NSEntityDescription()
        host.name = "Host"
        let name = NSAttributeDescription(name: "name", type: .string, isOptional: false),
            address = NSAttributeDescription(name: "address", type: .integer64)
        name.ownKind = AttributeKind.word
        address.ownKind = AttributeKind.unsigned32
        host.properties = [name, address]
        host.uniquenessConstraints = [["name"]]
        model.entities = [host]
        stack = try SQLiteStack(model)
    }

    @Test func itsValuesAreConvertedAsItSays() throws {
        try stack.root.performAndWait { () throws in
            let host = stack.root.make("Host", ["name": "LocalHost", "address": UInt32(0x7F00_0001)])
            #expect(host.value(forKey: "name") as? String == "localhost" && host.value(forKey: "address") as? Int64 == 0x7F00_0001)
            try stack.root.save()
        }
        stack.forget()
        try stack.root.performAndWait { () throws in
            let found = try stack.root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Host"))
            #expect(found.map { $0.value(forKey: "name") as? String } == ["localhost"])
            #expect(found.map { $0.value(forKey: "address") as? Int64 } == [0x7F00_0001])
        }
    }

    @Test func aValueOutOfItsRangeIsNotSaved() throws {
        try stack.root.performAndWait { () throws in
            let host = stack.root.make("Host", ["name": "a", "address": Int64(UInt32.max) + 1])
            let tooLarge = #expect(throws: CocoaError.self) { try stack.root.save() }
            #expect(tooLarge?.code == .validationNumberTooLarge)
            host.setValue(-1, forKey: "address")
            let tooSmall = #expect(throws: CocoaError.self) { try stack.root.save() }
            #expect(tooSmall?.code == .validationNumberTooSmall)
            host.setValue(UInt32.max, forKey: "address")
            try stack.root.save()
        }
    }

    @Test func predicatesCompareItAsItSays() throws {
        try stack.root.performAndWait { () throws in
            for (name, address) in [("a", 1), ("b", 2), ("c", 3)] { stack.root.make("Host", ["name": name, "address": address]) }
            try stack.root.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Host")
            request.sortDescriptors = [NSSortDescriptor(key: "address", ascending: false)]
            // The text becomes the number that is compared with.
            request.predicate = NSPredicate(format: "address > %@", "1")
            #expect(try stack.root.fetch(request).map { $0.value(forKey: "name") as? String } == ["c", "b"])
            request.predicate = NSPredicate(format: "name == %@", Data())
            let refused = #expect(throws: NSError.self) { try stack.root.fetch(request) }
            #expect("\(refused.map { "\($0)" } ?? "")".contains("is a string, with which"))
        }
    }

    @Test func oneUniqueKeyIsOneWhateverWasGiven() throws {
        try stack.root.performAndWait { () throws in
            stack.root.mergePolicy = .mergeByPropertyObjectTrump
            stack.root.make("Host", ["name": "Alpha", "address": 1])
            try stack.root.save()
            stack.root.make("Host", ["name": "ALPHA", "address": 2])
            try stack.root.save()
            let found = try stack.root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Host"))
            #expect(found.map { $0.value(forKey: "address") as? Int64 } == [2])
        }
    }

    // A5
    @Test func aValueThatIsTakenAsItIsIsWhatTheKindMakesOfIt() {
        let values: [Any] = [
            "text", "7", "", 7, Int64(-7), Int32(7), UInt8(7), 7.5, Float(7.5), true, false, Date(timeIntervalSinceReferenceDate: 7), Data([7]),
            UUID(),
            Decimal(7), NSNumber(value: 7), NSNumber(value: true), NSString("text"), NSNull(), Optional<Int>.none as Any, Optional("text") as Any,
        ]
        for raw in stride(from: 0, through: NSAttributeType.compositeAttributeType.rawValue, by: 100) {
            guard let type = NSAttributeType(rawValue: raw) else { continue }
            let kind = AttributeKind[type]
            for value in values {
                let coded = AttributeValue.coded(value, as: kind)
                if value is NSNull { #expect(coded == .null) } else { #expect(coded == kind.converted(value), "\(value) as \(kind.name)") }
            }
        }
    }
}
