import Foundation

@testable import ManagedClasses

/// Numbers that are the same for the same seed.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A module of classes whose members nobody implements, with the symbols that they should have.
struct RandomDeclarations {
    static let base = "OpenBase"
    private static let words = [
        "book", "Book", "Title", "add", "To", "Foundation", "URL", "x", "of", "Count", "the", "Person", "Int", "name", "Data", "Ids", "X", "a", "NS",
        "Set", "Größe", "名", "é", "_", "_tail", "2", "12", "HTTP", "isOn", "Y2K",
    ]

    private var random: SeededNumbers
    private var names: Set<String> = ["Swift", "Foundation", base]
    let module: String
    private(set) var source: String
    private(set) var symbols: Set<String> = []
    private var nominals: [(text: String, nominal: SwiftNominal)] = []
    private var protocols: [(text: String, nominal: SwiftNominal)] = []

    /// Whether a symbol is one of an accessor, or of a method, of these modules.
    func isOfMember(_ symbol: String) -> Bool {
        guard ["vg", "vs", "F"].contains(where: symbol.hasSuffix) else { return false }
        return [module, Self.base].contains { name in
            var mangling = SwiftMangling()
            mangling.appendModule(name)
            return symbol.hasPrefix(mangling.symbol)
        }
    }

    init(seed: UInt64) {
        random = SeededNumbers(state: seed)
        var random = SeededNumbers(state: seed &* 31)
        module = ["App", "Cistern", "MyBookApp", "Foundation2", "A", "Größe", "Book_Store"].randomElement(using: &random)! + "\(seed % 7)"
        names.insert(module)
        source = "import Foundation\nimport \(Self.base)\nfunc take(_ any: Any) {}\n"
        declareTypes()
        for _ in 0..<4 { declareClass() }
        extendForeignClass()
    }

    private mutating func name(capital: Bool = false) -> String {
        while true {
            var result = (0..<Int.random(in: 1...4, using: &random)).map { _ in Self.words.randomElement(using: &random)! }.joined()
            if capital { result = "T" + result }
            guard let first = result.unicodeScalars.first, !("0"..."9").contains(first), result.contains(where: { $0 != "_" }),
                names.insert(result).inserted
            else { continue }
            return result
        }
    }

    private mutating func declareTypes() {
        for _ in 0..<3 {
            let outer = name(capital: true), inner = name(capital: true), other = name(capital: true)
            source += "public struct \(outer) { public enum \(inner): Int16 { case one\n public final class \(other) {} } }\n"
            var nominal = SwiftNominal(module: module, path: [.init(name: outer, kind: .structure)])
            nominals.append((outer, nominal))
            nominal.path.append(.init(name: inner, kind: .enumeration))
            nominals.append(("\(outer).\(inner)", nominal))
            nominal.path.append(.init(name: other, kind: .class))
            nominals.append(("\(outer).\(inner).\(other)", nominal))
        }
        for _ in 0..<2 {
            let one = name(capital: true)
            source += "public protocol \(one) {}\n"
            protocols.append((one, SwiftNominal(module: module, path: [.init(name: one, kind: .protocol)])))
        }
    }

    private mutating func declareClass() {
        let name = name(capital: true), nested = self.name(capital: true)
        source += "open class \(name): ManagedBase { public enum \(nested): String { case one } }\n"
        let owner = SwiftNominal(module: module, path: [.init(name: name, kind: .class)])
        nominals.append((name, owner))
        nominals.append(("\(name).\(nested)", SwiftNominal(module: module, path: owner.path + [.init(name: nested, kind: .enumeration)])))
        declareMembers(of: owner)
    }

    private mutating func extendForeignClass() {
        declareMembers(of: SwiftNominal(module: Self.base, path: [.init(name: "ManagedBase", kind: .class)]))
    }

    private mutating func declareMembers(of owner: SwiftNominal) {
        // What nobody uses nobody looks for.
        var uses = ""
        source += "extension \(owner.name) {\n"
        for index in 0..<10 {
            let isPrivate = index % 5 == 4
            let symbol = AccessorSymbol(owner: owner, module: module, privateIn: isPrivate ? "Random.swift" : nil)
            let name = name()
            if Bool.random(using: &random) {
                let (text, type) = type()
                source += "    @NSManaged \(isPrivate ? "private" : "public") var \(name): \(text)\n"
                symbols.formUnion([symbol.getter(of: name, type), symbol.setter(of: name, type)])
                uses += "        \(name) = \(name)\n"
            } else {
                let count = Int.random(in: 0...4, using: &random)
                let labels: [String?] = (0..<count).map { _ in Bool.random(using: &random) ? self.name() : nil }
                let parameters = (0..<count).map { _ in type() }
                let result: (String, SwiftType)? = Bool.random(using: &random) ? type() : nil
                let list = zip(labels, parameters).enumerated().map { "\($1.0 ?? "_") p\($0): \($1.1.0)" }.joined(separator: ", ")
                source += "    @NSManaged \(isPrivate ? "private" : "public") func \(name)(\(list))\(result.map { " -> " + $0.0 } ?? "")\n"
                symbols.insert(symbol.method(name, labels: labels, parameters: parameters.map(\.1), result: result?.1 ?? .void))
                uses += "        take(\(name))\n"
            }
        }
        source += "    func use\(symbols.count)() {\n\(uses)    }\n}\n"
    }

    private mutating func type(depth: Int = 0) -> (String, SwiftType) {
        let library = LibraryTypes()
        func known(_ name: String) -> (String, SwiftType) { (name, .nominal(library.nominal(name.split(separator: ".").map(String.init))!)) }
        switch Int.random(in: 0..<(depth > 2 ? 6 : 13), using: &random) {
        case 0: return known(["String", "Int", "Bool", "Double", "Float", "Int16", "Int32", "Int64", "UInt8"].randomElement(using: &random)!)
        case 1:
            let names = ["Date", "Data", "UUID", "URL", "Decimal", "Locale", "IndexSet", "DateComponents", "TimeZone", "Calendar.Component"]
            return known(names.randomElement(using: &random)!)
        case 2:
            let names = ["NSSet", "NSOrderedSet", "NSNumber", "NSDecimalNumber", "NSObject", "NSIndexSet", "NSAttributedString", "NSArray"]
            return known(names.randomElement(using: &random)!)
        case 3, 4:
            let one = nominals.randomElement(using: &random)!
            return (one.text, .nominal(one.nominal))
        case 5: return [("Any", .existential([])), ("AnyObject", .anyObject)].randomElement(using: &random)!
        case 6, 7, 8:
            let (text, type) = type(depth: depth + 1)
            return ("Optional<\(text)>", .optional(type))
        case 9:
            let (text, type) = type(depth: depth + 1)
            return ("[\(text)]", .array(type))
        case 10:
            let (text, type) = type(depth: depth + 1)
            return ("[String: \(text)]", .dictionary(.nominal(SwiftType.standard("String")), type))
        case 11:
            let keys = ["String", "Date", "NSObject", "UUID", "Int64"]
            let (text, type) = known(keys.randomElement(using: &random)!)
            return ("Set<\(text)>", .generic(SwiftType.standard("Set"), [type]))
        default:
            let chosen = protocols.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
            // As the compiler orders them.
            let sorted = chosen.map(\.nominal).sorted { ($0.module, $0.name) < ($1.module, $1.name) }
            return ("(any \(chosen.map(\.text).joined(separator: " & ")))", .existential(sorted))
        }
    }
}
