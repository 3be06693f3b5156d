import Foundation

/// A keyed archive that is looked into before anything of it is made. Foundation's unarchiver on Linux stops the program at an archive that holds itself,
/// nests deep, or is damaged in one of many places; what it is given here is whole, and objects of plain classes are made without it.
struct KeyedArchive {
    /// The names of all classes of which it holds objects.
    let classNames: Set<String>
    /// The class of its object and those that it inherits from, by their names.
    let rootClasses: [String]
    private let data: Data
    private let list: BinaryPropertyList
    private let objects: [Object]
    private let root: Int

    /// What stands at one place of the archive's list.
    private enum Object {
        /// A string, a number, bytes, or null.
        case plain(Any)
        /// Members.
        case list(Kind, [Int])
        case dictionary(keys: [Int], values: [Int])
        case url(base: Int?, relative: Int)
        case date(Double)
        case uuid(UUID)
        case string(String)
        case bytes(Data)
        /// Of a class that only the unarchiver can make, and what it refers to.
        case other([Int])
        /// The description of a class.
        case type
    }

    private enum Kind { case array, set }

    /// How deep an archive nests at most, and how many objects it is when all is written out.
    private static let deepest = 1000, largest = 10_000_000

    /// Nil for what is no archive, or a damaged one.
    init?(_ data: Data) {
        var data = data
        if !data.starts(with: Array("bplist".utf8)) {
            // Written as XML.
            guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
                let binary = try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            else { return nil }
            data = binary
        }
        guard let list = BinaryPropertyList(data) else { return nil }
        let whole = list.values[list.top]
        guard case .array(let places)? = list.entry("$objects", of: whole), let top = list.entry("$top", of: whole),
            case .reference(let root)? = list.entry(NSKeyedArchiveRootObjectKey, of: top), places.indices.contains(root)
        else { return nil }
        var objects: [Object] = [], names: Set<String> = []
        objects.reserveCapacity(places.count)
        for place in places {
            guard let object = Self.object(list.values[place], list, places, &names) else { return nil }
            objects.append(object)
        }
        self.data = data
        self.list = list
        self.objects = objects
        self.root = root
        classNames = names
        switch objects[root] {
        case .plain(let value): rootClasses = [value is String ? "NSString" : value is Data ? "NSData" : value is NSNumber ? "NSNumber" : "NSNull"]
        default: rootClasses = Self.classes(of: list.values[places[root]], list, places) ?? []
        }
        var known: [Int: Int?] = [:]
        guard measure(root, 0, &known) != nil else { return nil }
    }

    /// The names of the class of an object and of those that it inherits from.
    private static func classes(of value: BinaryPropertyList.Value, _ list: BinaryPropertyList, _ places: [Int]) -> [String]? {
        guard case .reference(let number)? = list.entry("$class", of: value), places.indices.contains(number),
            case .string(let name)? = list.entry("$classname", of: list.values[places[number]])
        else { return nil }
        guard case .array(let all)? = list.entry("$classes", of: list.values[places[number]]) else { return [name] }
        let names = all.compactMap { number -> String? in
            if case .string(let name) = list.values[number] { name } else { nil }
        }
        // The first is the class itself.
        return names.first == name ? names : nil
    }

    private static func object(
        _ value: BinaryPropertyList.Value, _ list: BinaryPropertyList, _ places: [Int], _ names: inout Set<String>
    ) -> Object? {
        switch value {
        case .string("$null"), .null: return .plain(NSNull())
        case .string(let text): return .plain(text)
        case .bool(let flag): return .plain(NSNumber(value: flag))
        case .integer(let number): return .plain(NSNumber(value: number))
        case .real(let number): return .plain(NSNumber(value: number))
        case .data(let data): return .plain(data)
        case .date(let seconds): return .plain(Date(timeIntervalSinceReferenceDate: seconds))
        case .reference, .array: return nil
        case .dictionary(let pairs):
            if list.entry("$classname", of: value) != nil { return .type }
            guard let name = classes(of: value, list, places)?.first else { return nil }
            names.insert(name)
            func reference(_ key: String) -> Int? {
                guard case .reference(let number)? = list.entry(key, of: value), places.indices.contains(number) else { return nil }
                return number
            }
            func references(_ key: String) -> [Int]? {
                guard case .array(let numbers)? = list.entry(key, of: value) else { return nil }
                let found = numbers.compactMap { number -> Int? in
                    if case .reference(let place) = list.values[number], places.indices.contains(place) { place } else { nil }
                }
                return found.count == numbers.count ? found : nil
            }
            switch name {
            case "NSArray", "NSMutableArray": return references("NS.objects").map { .list(.array, $0) }
            case "NSSet", "NSMutableSet": return references("NS.objects").map { .list(.set, $0) }
            case "NSDictionary", "NSMutableDictionary":
                guard let keys = references("NS.keys"), let values = references("NS.objects"), keys.count == values.count else { return nil }
                return .dictionary(keys: keys, values: values)
            case "NSURL":
                guard let relative = reference("NS.relative") else { return nil }
                return .url(base: reference("NS.base"), relative: relative)
            case "NSDate":
                switch list.entry("NS.time", of: value) {
                case .real(let seconds)?, .date(let seconds)?: return .date(seconds)
                case .integer(let seconds)?: return .date(Double(seconds))
                default: return nil
                }
            case "NSUUID":
                guard case .data(let bytes)? = list.entry("NS.uuidbytes", of: value), bytes.count == 16 else { return nil }
                return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
            case "NSString", "NSMutableString":
                switch list.entry("NS.string", of: value) ?? list.entry("NS.bytes", of: value) {
                case .string(let text)?: return .string(text)
                case .data(let bytes)?: return String(data: bytes, encoding: .utf8).map { .string($0) }
                default: return nil
                }
            case "NSData", "NSMutableData":
                guard case .data(let bytes)? = list.entry("NS.data", of: value) ?? list.entry("NS.bytes", of: value) else { return nil }
                return .bytes(bytes)
            case "NSNull": return .plain(NSNull())
            default:
                var found: [Int] = []
                var steps = 0
                for pair in pairs {
                    if case .string("$class") = list.values[pair.key] { continue }
                    guard collect(list.values[pair.value], list, places, &found, &steps, 0) else { return nil }
                }
                return .other(found)
            }
        }
    }

    /// The references within a value of an object. False where one leads nowhere.
    private static func collect(
        _ value: BinaryPropertyList.Value, _ list: BinaryPropertyList, _ places: [Int], _ found: inout [Int], _ steps: inout Int, _ level: Int
    ) -> Bool {
        steps += 1
        guard level <= deepest, steps <= largest else { return false }
        switch value {
        case .reference(let number):
            guard places.indices.contains(number) else { return false }
            found.append(number)
            return true
        case .array(let numbers): return numbers.allSatisfy { collect(list.values[$0], list, places, &found, &steps, level + 1) }
        case .dictionary(let pairs): return pairs.allSatisfy { collect(list.values[$0.value], list, places, &found, &steps, level + 1) }
        default: return true
        }
    }

    /// How many objects one is when all is written out; nil where that is too many, or has no end. An object of a class of the program's may refer to
    /// one that it is held by; a list that holds itself can't be made.
    private func measure(_ number: Int, _ level: Int, _ known: inout [Int: Int?]) -> Int? {
        if let found = known[number] {
            if let found { return found }
            if case .other = objects[number] { return 1 }
            return nil
        }
        guard level <= Self.deepest else { return nil }
        known[number] = .some(nil)
        let held: [Int]
        switch objects[number] {
        case .plain, .date, .uuid, .string, .bytes: held = []
        case .type: return nil
        case .list(_, let members): held = members
        case .dictionary(let keys, let values): held = keys + values
        case .url(let base, let relative): held = [base, relative].compactMap { $0 }
        case .other(let references): held = references
        }
        var size = 1
        for next in held {
            guard let part = measure(next, level + 1, &known), size + part <= Self.largest else { return nil }
            size += part
        }
        known[number] = size
        return size
    }

    // MARK: Making

    /// The object.
    func made() -> Any? {
        var known: [Int: AnyHashable] = [:]
        if let plain = plain(root, &known) { return plain.base }
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
    }

    /// An object of plain classes, as the Swift value that it stands for; nil where there are others.
    private func plain(_ number: Int, _ known: inout [Int: AnyHashable]) -> AnyHashable? {
        if let made = known[number] { return made }
        let made: AnyHashable?
        switch objects[number] {
        case .plain(let value): made = value as? AnyHashable
        case .date(let seconds): made = Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let uuid): made = uuid
        case .string(let text): made = text
        case .bytes(let data): made = data
        case .list(let kind, let members):
            var all: [AnyHashable] = []
            for member in members {
                guard let value = plain(member, &known) else { return nil }
                all.append(value)
            }
            made = kind == .array ? AnyHashable(all) : AnyHashable(Set(all))
        case .dictionary(let keys, let values):
            var all: [AnyHashable: AnyHashable] = [:]
            for (key, value) in zip(keys, values) {
                guard let key = plain(key, &known), let value = plain(value, &known) else { return nil }
                all[key] = value
            }
            made = all
        case .url(let base, let relative):
            guard let text = plain(relative, &known)?.base as? String else { return nil }
            let before = base.flatMap { plain($0, &known)?.base as? URL }
            made = URL(string: text, relativeTo: before).map { AnyHashable($0.absoluteURL) }
        case .other, .type: made = nil
        }
        if let made { known[number] = made }
        return made
    }

    // MARK: Classes

    /// A class as archives name it.
    static func name(_ type: AnyClass) -> String {
        // NSStringFromClass stops the program at a class within another.
        let name = String(reflecting: type)
        return name.hasPrefix("Foundation.") ? String(name.dropFirst("Foundation.".count)) : name
    }

    /// Whether archives can name a class: one that is private, or declared within another type, they can't.
    private static func canName(_ type: AnyClass) -> Bool {
        let name = String(reflecting: type)
        return name.split(separator: ".").count <= 2 && !name.contains("(")
    }

    private static let plainNames: Set<String> = [
        "NSString", "NSMutableString", "NSNumber", "NSDecimalNumber", "NSDate", "NSData", "NSMutableData", "NSArray", "NSMutableArray",
        "NSDictionary",
        "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet", "NSURL", "NSUUID", "NSNull",
    ]

    /// Whether objects of a class can be made of any archive without harm.
    static func isSecure(_ name: String) -> Bool { plainNames.contains(name) || NSClassFromString(name) is any NSSecureCoding.Type }

    /// Whether a value is of types that an archive can hold. The archiver stops the program at one that is not.
    static func canArchive(_ value: Any) -> Bool {
        switch value {
        // Foundation's archiver asks one for its hash, which on Linux asks itself without end.
        case is NSDecimalNumber: false
        case is String, is Int, is Int64, is Int32, is Int16, is Double, is Float, is Bool, is Data, is Date, is URL, is UUID: true
        case let list as [Any]: list.allSatisfy(canArchive)
        case let list as NSOrderedSet: list.allSatisfy(canArchive)
        case let dictionary as [AnyHashable: Any]: dictionary.allSatisfy { canArchive($0.key.base) && canArchive($0.value) }
        case let set as Set<AnyHashable>: set.allSatisfy { canArchive($0.base) }
        default: value is any NSCoding && canName(Swift.type(of: value as AnyObject))
        }
    }
}
