import Foundation

/// The types of the standard library, Foundation and OpenCoreData, as far as symbols need them.
///
/// Which of Foundation's modules has a type, and whether it is a structure or a class, differs between toolchains; so Swift's runtime is asked, in
/// the process that the same toolchain built. A program that is linked statically has only the types that it names: those that properties have are
/// named here.
struct LibraryTypes {
    /// Types whose place is no question of a toolchain's, and generic ones, which the runtime doesn't find without their arguments.
    private static let fixed: [String: SwiftNominal] = {
        var table: [String: SwiftNominal] = [:]
        for name in ["Array", "Set", "Dictionary", "Range", "ClosedRange"] { table[name] = SwiftType.standard(name) }
        // Where a protocol has a letter, the runtime doesn't mind what kind of type was meant.
        for name in ["Comparable", "Decodable", "Encodable", "Equatable", "Hashable", "StringProtocol", "Numeric", "Strideable"] {
            table[name] = SwiftType.standard(name, .protocol)
        }
        table["Optional"] = SwiftType.standard("Optional", .enumeration)
        for name in [
            "NSManagedObject", "NSManagedObjectID", "NSManagedObjectContext", "NSEntityDescription", "NSFetchRequest", "NSPersistentStore",
            "NSPersistentStoreCoordinator", "NSPersistentContainer", "NSManagedObjectModel",
        ] {
            table[name] = SwiftNominal(module: "OpenCoreData", path: [.init(name: name, kind: .class)])
        }
        return table
    }()

    private static let named: [String: SwiftNominal] = {
        let types: [Any.Type] = [
            Bool.self, Character.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, String.self,
            UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
            Calendar.self, CharacterSet.self, Data.self, Date.self, DateComponents.self, DateInterval.self, Decimal.self, IndexPath.self,
            IndexSet.self,
            Locale.self, TimeZone.self, URL.self, URLComponents.self, UUID.self,
            NSArray.self, NSAttributedString.self, NSData.self, NSDate.self, NSDecimalNumber.self, NSDictionary.self, NSIndexPath.self,
            NSIndexSet.self,
            NSMutableArray.self, NSMutableAttributedString.self, NSMutableDictionary.self, NSMutableOrderedSet.self, NSMutableSet.self, NSNull.self,
            NSNumber.self, NSObject.self, NSOrderedSet.self, NSSet.self, NSString.self, NSURL.self, NSUUID.self, NSValue.self, Notification.self,
        ]
        return Dictionary(types.compactMap(nominal).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }()

    /// A type that stands in no other, by what the runtime calls it: `FoundationEssentials.Date`, and a last letter for its kind.
    private static func nominal(_ type: Any.Type) -> SwiftNominal? {
        let names = String(reflecting: type).split(separator: ".").map(String.init)
        // Types with a letter of their own have no other to tell.
        let kind = _mangledTypeName(type).flatMap { name in
            name.count > 2 ? name.last.flatMap { SwiftNominal.Kind(rawValue: String($0)) } : .structure
        }
        guard names.count == 2, let kind else { return nil }
        return SwiftNominal(module: names[0], path: [.init(name: names[1], kind: kind)])
    }

    /// Other names of types.
    static let aliases: [String: String] = [
        "TimeInterval": "Double", "Float64": "Double", "Float32": "Float", "Codable": "Decodable & Encodable", "Void": "()",
    ]

    private static let modules = ["Swift", "Foundation", "FoundationEssentials", "FoundationInternationalization", "Dispatch"]

    /// - Parameter path: `["Calendar", "Component"]`; a module may stand first.
    func nominal(_ path: [String]) -> SwiftNominal? {
        guard let first = path.first else { return nil }
        if path.count > 1, Self.modules.contains(first) || first == "CoreData" || first == "OpenCoreData" {
            return nominal(Array(path.dropFirst()))
        }
        if let fixed = Self.fixed[first] { return path.count == 1 ? fixed : nil }
        if let known = Self.named[first] { return search(known, path.dropFirst()) }
        for module in Self.modules {
            if let found = search(SwiftNominal(module: module, path: []), path[...]) { return found }
        }
        return nil
    }

    private func search(_ outer: SwiftNominal, _ rest: ArraySlice<String>) -> SwiftNominal? {
        guard let name = rest.first else { return outer }
        for kind in SwiftNominal.Kind.allCases where kind != .protocol || rest.count == 1 {
            var nominal = outer
            nominal.path.append(.init(name: name, kind: kind))
            if isKnown(nominal) { return search(nominal, rest.dropFirst()) }
        }
        return nil
    }

    private func isKnown(_ nominal: SwiftNominal) -> Bool {
        var mangling = SwiftMangling()
        mangling.append(nominal.kind == .protocol ? .existential([nominal]) : .nominal(nominal))
        return _typeByName(String(mangling.symbol.dropFirst(2))) != nil
    }
}
