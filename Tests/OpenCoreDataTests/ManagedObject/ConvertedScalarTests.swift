import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

final class OddlyTypedObject: NSManagedObject {
    @Managed var born: Double
    @Managed var age: Double
    @Managed var isOld: Bool
    @Managed var price: Double
    @Managed var weight: Int
    @Managed var count: UInt32
    @Managed var height: Float?
}

/// Accessors of another type than the attribute's: what they write, they read.
@Suite struct ConvertedScalarTests {
    enum Small: Int8 {
        case one = 1, two
    }

    private static func model() -> NSManagedObjectModel {
        let odd = Company.entity("Odd"), attribute = Company.attribute
        odd.setManagedObjectClass(OddlyTypedObject.self)
        odd.properties = [
            attribute("born", .date, true, nil), attribute("age", .integer32, true, nil), attribute("isOld", .integer16, true, nil),
            attribute("price", .decimal, true, nil), attribute("weight", .double, true, nil), attribute("count", .integer64, true, nil),
            attribute("height", .integer64, true, nil), attribute("kind", .integer16, true, nil),
        ]
        return NSManagedObjectModel(entities: [odd])
    }

    @Test func whatTheyWriteTheyReadAndSave() throws {
        let stack = TestStack(Self.model())
        try stack.root.performAndWait { () throws in
            let odd = OddlyTypedObject(context: stack.root)
            #expect(odd.born == 0 && odd.age == 0 && !odd.isOld && odd.height == nil)
            odd.born = 1000
            odd.age = 3
            odd.age += 1
            odd.isOld = true
            odd.price = 2.5
            odd.weight = 7
            odd.count = 9
            odd.height = 2
            odd.setManagedValue(Small.two, forProperty: "kind")
            #expect(odd.born == 1000 && odd.age == 4 && odd.isOld && odd.price == 2.5 && odd.weight == 7 && odd.count == 9 && odd.height == 2)
            let kind: Small = odd.managedValue(forProperty: "kind")
            #expect(kind == .two)
            #expect(odd.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: 1000))
            try stack.root.save()
            #expect(odd.born == 1000 && odd.age == 4)
        }
    }
}
