import Foundation
import Testing

@testable import OpenCoreData

/// Archives of transformable values, whole and damaged. Foundation's unarchiver on Linux ends the process at many of these.
@Suite struct KeyedArchiveTests {
    private static func archive(_ value: Any) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
    }

    private static func mixed() throws -> [AnyHashable] {
        let uuid = try #require(UUID(uuidString: "0F0E0D0C-0B0A-0908-0706-050403020100")),
            url = try #require(URL(string: "https://example.org/a?b=c"))
        return [
            "text", "e\u{301}\u{1F600}", 1, Int64.min, 2.5, true, Data([0, 255]), Date(timeIntervalSinceReferenceDate: -1.25), uuid, url,
            ["k": [1, 2]] as [String: [Int]], Set(["a", "b"]), String(repeating: "long ", count: 100),
        ]
    }

    // A7
    @Test func plainValuesAreMadeWithoutTheUnarchiver() throws {
        let mixed = try Self.mixed(), made = try #require(KeyedArchive(try Self.archive(mixed))?.made() as? [AnyHashable])
        #expect(made.count == mixed.count && made[0].base as? String == "text" && made[1].base as? String == "e\u{301}\u{1F600}")
        #expect(
            (made[2].base as? NSNumber)?.intValue == 1 && (made[3].base as? NSNumber)?.int64Value == .min
                && (made[4].base as? NSNumber)?.doubleValue == 2.5)
        #expect((made[5].base as? NSNumber)?.boolValue == true && made[6].base as? Data == Data([0, 255]))
        #expect(made[7].base as? Date == Date(timeIntervalSinceReferenceDate: -1.25) && made[8] == mixed[8] && made[9] == mixed[9])
        #expect((made[10].base as? [AnyHashable: AnyHashable])?["k"]?.base is [AnyHashable] && (made[11].base as? Set<AnyHashable>)?.count == 2)
        #expect(made[12] == mixed[12])
    }

    // A7: an archiver may have written it as XML.
    @Test func anArchiveInXMLIsReadToo() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.outputFormat = .xml
        archiver.encode(["a", "b"] as NSArray, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        #expect(archiver.encodedData.starts(with: Array("<?xml".utf8)))
        #expect(KeyedArchive(archiver.encodedData)?.made() as? [AnyHashable] == ["a", "b"])
    }

    // A7: each byte in turn.
    @Test func noDamagedByteEndsTheProcess() throws {
        let mixed = try Self.mixed()
        let whole = [UInt8](try Self.archive([mixed, TransformedInk("x")] as NSArray)), plain = [UInt8](try Self.archive(mixed))
        var read = 0, refused = 0
        for (bytes, usesUnarchiver) in [(plain, false), (whole, true)] {
            for place in bytes.indices {
                for value in [0, 1, 0x0F, 0x7F, 0x80, 0xA1, 0xD1, 0xFF, bytes[place] &+ 1, bytes[place] ^ 0x10] as [UInt8] where value != bytes[place]
                {
                    var damaged = bytes
                    damaged[place] = value
                    guard let archive = KeyedArchive(Data(damaged)) else {
                        refused += 1
                        continue
                    }
                    read += 1
                    // What the program's own class does with what it is given is its own affair.
                    if !usesUnarchiver || archive.classNames.isSubset(of: ["NSArray", "NSString", "NSDate"]) { _ = archive.made() }
                }
            }
        }
        #expect(read > 1000 && refused > 1000)
        for length in plain.indices { _ = KeyedArchive(Data(plain[..<length]))?.made() }
    }

    // MARK: Archives that no archiver writes

    /// The list of objects as text in XML, where a reference is a dictionary.
    private static func archive(objects: String, root: Int = 1) -> Data {
        Data(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$version</key><integer>100000</integer><key>$top</key><dict><key>root</key>\(reference(root))</dict>
            <key>$objects</key><array><string>$null</string>\(objects)</array></dict></plist>
            """.utf8)
    }

    private static func reference(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }

    private static func type(_ name: String) -> String {
        "<dict><key>$classname</key><string>\(name)</string><key>$classes</key><array><string>\(name)</string><string>NSObject</string></array></dict>"
    }

    private static func list(_ members: [Int], type: Int) -> String {
        "<dict><key>$class</key>\(reference(type))<key>NS.objects</key><array>\(members.map(reference).joined())</array></dict>"
    }

    private static let senseless: [(String, Data)] = [
        ("holds itself", archive(objects: list([1], type: 2) + type("NSArray"))),
        ("holds itself, two deep", archive(objects: list([2], type: 3) + list([1], type: 3) + type("NSSet"))),
        ("a member that is not there", archive(objects: list([9], type: 2) + type("NSArray"))),
        ("a class that is not there", archive(objects: list([0], type: 9))),
        ("a class that is none", archive(objects: list([0], type: 2) + "<string>x</string>")),
        ("a member that is a class", archive(objects: list([2], type: 2) + type("NSArray"))),
        ("no root", archive(objects: list([0], type: 2) + type("NSArray"), root: 7)),
        (
            "members that are none",
            archive(objects: "<dict><key>$class</key>\(reference(2))<key>NS.objects</key><string>x</string></dict>" + type("NSArray"))
        ),
        (
            "more keys than values",
            archive(
                objects: "<dict><key>$class</key>\(reference(2))<key>NS.keys</key><array>\(reference(0))</array><key>NS.objects</key><array/></dict>"
                    + type("NSDictionary"))
        ),
        ("a string without text", archive(objects: "<dict><key>$class</key>\(reference(2))</dict>" + type("NSString"))),
        (
            "a string that is a number",
            archive(objects: "<dict><key>$class</key>\(reference(2))<key>NS.string</key><integer>1</integer></dict>" + type("NSString"))
        ),
        ("a short UUID", archive(objects: "<dict><key>$class</key>\(reference(2))<key>NS.uuidbytes</key><data>AAAA</data></dict>" + type("NSUUID"))),
        (
            "a URL within itself",
            archive(
                objects: "<dict><key>$class</key>\(reference(2))<key>NS.base</key>\(reference(1))<key>NS.relative</key>\(reference(3))</dict>"
                    + type("NSURL") + "<string>x</string>")
        ),
        ("deep", archive(objects: (1...5000).map { list([$0 + 1], type: 5002) }.joined() + "<string>x</string>" + type("NSArray"))),
        (
            "large when written out",
            archive(objects: (1...40).map { list([$0 + 1, $0 + 1], type: 42) }.joined() + "<string>x</string>" + type("NSArray"))
        ),
        ("no archive", Data("x".utf8)), ("nothing", Data()),
    ]

    // A7
    @Test(arguments: senseless.indices) func whatMakesNoSenseIsNothing(_ index: Int) {
        let (what, data) = Self.senseless[index]
        #expect(KeyedArchive(data) == nil, "\(what)")
        #expect(TransformableCoding.value(data, of: nil) == nil, "\(what)")
    }

    // A7
    @Test func anObjectOfAClassThatIsNotThereIsNothing() {
        let data = Self.archive(
            objects: "<dict><key>$class</key>\(Self.reference(2))<key>x</key>\(Self.reference(0))</dict>" + Self.type("App.Nobody"))
        #expect(KeyedArchive(data)?.classNames == ["App.Nobody"])
        #expect(TransformableCoding.value(data, of: nil) == nil)
    }

    // A7: but an object of the program's own may know who holds it.
    @Test func anObjectOfAClassOfItsOwnMayLeadBack() {
        let own = "<dict><key>$class</key>\(Self.reference(3))<key>list</key>\(Self.reference(2))</dict>"
        let data = Self.archive(objects: own + Self.list([1], type: 4) + Self.type("App.Node") + Self.type("NSArray"))
        #expect(KeyedArchive(data)?.rootClasses == ["App.Node", "NSObject"])
        #expect(KeyedArchive(data)?.classNames == ["App.Node", "NSArray"])
    }
}
