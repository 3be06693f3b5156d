import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What a slot asks at a glance, beside the rules of the model in full.
@Suite struct SlotRuleTests {
    /// Attributes of every type that has rules, required and not, transient and not, with and without bounds and a pattern.
    private static func model() -> NSManagedObjectModel {
        let types: [NSAttributeDescription.AttributeType] = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData, .uuid,
        ]
        let bounds: [(String, (NSAttributeDescription) -> Void)] = [
            ("free", { _ in }), ("least", { $0.minimumValue = 2 }), ("most", { $0.maximumValue = 1 }), ("exactLeast", { $0.minimumDecimal = 2 }),
            ("exactMost", { $0.maximumDecimal = 1 }), ("pattern", { $0.regularExpression = "[a-m]+" }),
        ]
        let entity = Company.entity("Thing"), other = Company.entity("Other")
        for type in types {
            for isOptional in [true, false] {
                for isTransient in [true, false] {
                    for (name, bind) in bounds {
                        let attribute = Company.attribute("\(name)\(type.rawValue)\(isOptional)\(isTransient)", type, optional: isOptional)
                        attribute.isTransient = isTransient
                        bind(attribute)
                        entity.properties += [attribute]
                    }
                }
            }
        }
        entity.properties += [
            NSRelationshipDescription(name: "may", destination: other, toMany: false),
            NSRelationshipDescription(name: "must", destination: other, toMany: false, isOptional: false),
        ]
        return NSManagedObjectModel(entities: [entity, other])
    }

    @Test func whatARuleAdmitsIsRightAndWhatIsWrongHasARule() throws {
        let stack = TestStack(Self.model())
        try stack.root.performAndWait { () throws in
            let id = stack.root.make("Thing").objectID, layout = id.layout
            let rules = Dictionary(layout.rules.map { ($0.slot, $0) }, uniquingKeysWith: { first, _ in first })
            var admitted = 0, wrong = 0
            for (slot, property) in layout.slots.enumerated() {
                let values: [AttributeValue]
                switch property {
                case .toOne: values = [.null, .objectID(id)]
                case .attribute(let attribute):
                    values =
                        switch attribute.type {
                        case .integer16, .integer32, .integer64: [.null] + [0, 1, 2, 40_000, .max, .min].map { .int64($0) }
                        case .decimal: [.null] + [0, 1.5, 3, .nan].map { .decimal($0) }
                        case .double, .float: [.null] + [0, 1.5, 3, .nan].map { .double($0) }
                        case .date: [.null] + [0, 1.5, 3, .nan].map { .date($0) }
                        case .string: [.null] + ["", "a", "abc", "xyz"].map { .string($0) }
                        case .boolean: [.null, .bool(true)]
                        case .uuid: [.null, .uuid(UUID())]
                        default: [.null, .data(Data([1, 2, 3]))]
                        }
                }
                for value in values {
                    let isRight = RowValidation.error(for: value, at: slot, layout: layout, id: id, object: nil) == nil
                    if rules[slot]?.admits(value) == true {
                        admitted += 1
                        #expect(isRight, "\(layout.names[slot]): \(value)")
                    } else if !isRight {
                        wrong += 1
                        // A transient attribute that is no number is not stored.
                        #expect(rules[slot] != nil || layout.isTransient[slot], "\(layout.names[slot]): \(value)")
                    }
                }
            }
            #expect(admitted > 100 && wrong > 100)
        }
    }
}
