import Foundation
import Testing

@testable import OpenCoreData

/// Property lists as the encoder writes them: what reads them finds what was said.
@Suite struct PropertyListValueTests {
    private let list: [String: Any] = [
        "text": "ä", "empty": "", "data": Data([0, 255]), "date": Date(timeIntervalSince1970: 5), "yes": true, "no": false, "one": 1,
        "number": NSNumber(value: Int8(7)), "least": Int64.min, "most": UInt64.max, "real": 1.5, "none": [String](),
        "array": ["a", ["b": [Data()]] as [String: Any], 3] as [Any], "object": NSArray(array: ["x"]),
    ]

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func whatIsWrittenIsReadAlike(as format: PropertyListSerialization.PropertyListFormat) throws {
        let bytes = try PropertyListValue.bytes(list, format: format)
        var found = PropertyListSerialization.PropertyListFormat.openStep
        let back = try PropertyListSerialization.propertyList(from: bytes, options: [], format: &found)
        #expect(found == format)
        func text(_ list: Any) throws -> String {
            String(decoding: try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0), as: UTF8.self)
        }
        #expect(try text(back) == text(list))
        // The same each time.
        #expect(try PropertyListValue.bytes(Dictionary(uniqueKeysWithValues: list.map { ($0, $1) }), format: format) == bytes)
    }

    @Test func truthValuesAreNoNumbers() throws {
        let text = try String(decoding: PropertyListValue.bytes(["a": true, "b": 1] as [String: Any], format: .xml), as: UTF8.self)
        #expect(text.contains("<true/>") && text.contains("<integer>1</integer>"))
    }

    @Test func whatIsNoPropertyListIsRefused() {
        #expect(throws: (any Error).self) { try PropertyListValue.bytes(["a": [NSObject()]], format: .binary) }
    }
}
