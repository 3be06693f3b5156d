import Foundation

/// The types of the standard library, Foundation and OpenCoreData, as far as symbols need them.
///
/// Which of Foundation's modules has a type, and whether it is a structure or a class, differs between toolchains; so Swift's runtime is asked, in
/// the process that the same toolchain built.
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
