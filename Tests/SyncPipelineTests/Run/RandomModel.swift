import Foundation
import NIOHTTP1
import SyncTestSupport

@testable import SyncPipeline

/// A model of one to twelve entities that refer to each other in any way, and a service that has records of them.
///
/// What the service says at one time does not contradict itself: what is embedded is what its own listing says of it. A reference may lead to what no
/// listing has.
struct RandomModel {
    enum Kind: CaseIterable {
        case string, integer, real, flag

        var type: String {
            switch self {
            case .string: "string"
            case .integer: "int32"
            case .real: "double"
            case .flag: "bool"
            }
        }

        /// A value as JSON.
        func value(using random: inout SeededNumbers) -> String {
            if random.chance(15) { return "null" }
            return switch self {
            case .string: ["\"\"", "\"a\"", "\"ü\"", "\"42\"", "\"null\"", "\"\\u0041\\n\""][random.next(upTo: 6)]
            case .integer: "\(random.next(upTo: 5) - 2)"
            case .real: ["0.5", "-1.25", "3.0", "1e3"][random.next(upTo: 4)]
            case .flag: random.chance(50) ? "true" : "false"
            }
        }
    }

    enum Link: CaseIterable {
        case key, keys, embedded
    }

    struct Relationship {
        let name: String
        let target: Int
        let link: Link
        let inverse: String
    }

    struct Entity {
        let attributes: [Kind]
        var relationships: [Relationship] = []
        /// Inverses of what others refer to it by.
        var inverses: [(name: String, source: Int, inverse: String)] = []
        let pages: Int
        let hasTags: Bool
        /// Whether its records say how new they are: then the service may list older ones.
        let hasVersions: Bool
    }

    struct Record: Equatable {
        /// As JSON, one for each attribute.
        var values: [String]
        /// The keys that each relationship leads to, in their order; of a to-one none or one.
        var links: [[Int]]
        /// Those that are made later have greater ones.
        let version: Int
    }

    private(set) var entities: [Entity]
    /// What is listed, by entity and key.
    private(set) var records: [[Int: Record]]
    /// What anybody has held at any time, by entity: who is found in others only, its own listing cannot bury.
    private(set) var held: [Set<Int>]
    /// What those were before that are listed.
    private var older: [[Int: Record]]
    private var lastVersion = 0

    init(using random: inout SeededNumbers) {
        let count = 1 + random.next(upTo: 12)
        entities = (0..<count).map { _ in
            Entity(
                attributes: (0..<1 + random.next(upTo: 4)).map { _ in Kind.allCases[random.next(upTo: 4)] }, pages: 1 + random.next(upTo: 3),
                hasTags: random.chance(50), hasVersions: random.chance(40))
        }
        for source in 0..<count {
            for number in 0..<random.next(upTo: 4) {
                let target = random.next(upTo: count), name = "ref\(number)", inverse = "from\(source)x\(number)"
                entities[source].relationships.append(
                    Relationship(name: name, target: target, link: Link.allCases[random.next(upTo: 3)], inverse: inverse))
                entities[target].inverses.append((inverse, source, name))
            }
        }
        records = Array(repeating: [:], count: count)
        held = Array(repeating: [], count: count)
        older = records
        for entity in 0..<count {
            for key in 1...8 where key == 1 || random.chance(60) { records[entity][key] = record(of: entity, using: &random) }
        }
        repair()
    }

    private mutating func record(of entity: Int, using random: inout SeededNumbers) -> Record {
        lastVersion += 1
        return Record(
            values: entities[entity].attributes.map { $0.value(using: &random) },
            links: entities[entity].relationships.map { relationship in
                let count = relationship.link == .keys ? random.next(upTo: 4) : random.next(upTo: 2)
                var keys: [Int] = []
                for _ in 0..<count {
                    let key = 1 + random.next(upTo: 10)
                    if !keys.contains(key) { keys.append(key) }
                }
                return keys
            }, version: lastVersion)
    }

    /// Only what is listed can be embedded.
    private mutating func repair() {
        for (entity, listed) in records.enumerated() {
            for key in listed.keys {
                for (number, relationship) in entities[entity].relationships.enumerated() where relationship.link == .embedded {
                    let known = records[relationship.target].keys
                    records[entity][key]?.links[number].removeAll { !known.contains($0) }
                    held[relationship.target].formUnion(records[entity][key]?.links[number] ?? [])
                }
            }
        }
    }

    /// Records come, change and go. One of each entity always stays: an empty listing is not believed.
    mutating func change(using random: inout SeededNumbers) {
        for _ in 0...random.next(upTo: 6) {
            let entity = random.next(upTo: entities.count), key = 1 + random.next(upTo: 8)
            if records[entity][key] != nil, key != 1, random.chance(40) {
                (records[entity][key], older[entity][key]) = (nil, nil)
            } else {
                older[entity][key] = records[entity][key]
                records[entity][key] = record(of: entity, using: &random)
            }
        }
        repair()
    }

    // MARK: As configuration

    var toml: String {
        var text = "version = 1\n[daemon]\ncontact = \"test@localhost\"\n[defaults.retry]\nattempts = 1\n[defaults.schedule]\nevery = \"1h\"\n"
        text += "[[source]]\nname = \"api\"\nbase_url = \"https://api.example\"\n"
        for number in entities.indices {
            text +=
                "[[source.resource]]\nname = \"e\(number)\"\nentity = \"E\(number)\"\npath = \"/e\(number)\"\npages = { kind = \"link-header\" }\n"
            text += "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }\n"
        }
        for (number, entity) in entities.enumerated() {
            text += "[entity.E\(number)]\nkey = [\"id\"]\n\(entity.hasVersions ? "version_field = \"rev\"\n" : "")"
            text += "[entity.E\(number).attributes]\nid = { type = \"int64\", optional = false }\n"
            if entity.hasVersions { text += "rev = { type = \"int64\" }\n" }
            for (index, kind) in entity.attributes.enumerated() { text += "val\(index) = { type = \"\(kind.type)\" }\n" }
            if entity.relationships.isEmpty, entity.inverses.isEmpty { continue }
            text += "[entity.E\(number).relationships]\n"
            for one in entity.relationships {
                let match = one.link == .key ? "key" : one.link == .keys ? "keys" : "embedded"
                text += "\(one.name) = { to = \"E\(one.target)\", match = \"\(match)\", inverse = \"\(one.inverse)\""
                text += one.link == .keys ? ", many = true }\n" : " }\n"
            }
            for (name, source, inverse) in entity.inverses {
                text += "\(name) = { to = \"E\(source)\", many = true, inverse = \"\(inverse)\", on_delete = \"nullify\" }\n"
            }
        }
        return text
    }

    // MARK: As answers

    private func json(_ entity: Int, _ key: Int, _ record: Record) -> String {
        var fields = ["\"id\": \(key)"]
        if entities[entity].hasVersions { fields.append("\"rev\": \(record.version)") }
        for (index, value) in record.values.enumerated() { fields.append("\"val\(index)\": \(value)") }
        for (relationship, keys) in zip(entities[entity].relationships, record.links) {
            switch relationship.link {
            case .key: fields.append("\"\(relationship.name)\": \(keys.first.map { "\($0)" } ?? "null")")
            case .keys: fields.append("\"\(relationship.name)\": \(keys)")
            case .embedded:
                let first = keys.first.flatMap { key in records[relationship.target][key].map { "{\"id\": \(key), \"val0\": \($0.values[0])}" } }
                fields.append("\"\(relationship.name)\": \(first ?? "null")")
            }
        }
        return "{\(fields.joined(separator: ", "))}"
    }

    /// The keys of each page of a listing. A page without records would end it: there is none, but for the first.
    private func pages(of entity: Int) -> [[Int]] {
        let keys = records[entity].keys.sorted(), count = entities[entity].pages
        return (0..<count).map { page in keys.filter { $0 % count == page } }.filter { !$0.isEmpty }
    }

    /// - Parameter late: an entity and key: whether the record is listed as it was before, where its records say how new they are.
    func serve(_ api: ScriptedAPI, late: (Int, Int) -> Bool = { _, _ in false }) {
        for (number, entity) in entities.enumerated() {
            let pages = pages(of: number)
            for (page, keys) in pages.enumerated() {
                let listed = keys.compactMap { key -> String? in
                    guard let record = records[number][key] else { return nil }
                    return json(number, key, entity.hasVersions && late(number, key) ? older[number][key] ?? record : record)
                }
                let body = "[\(listed.joined(separator: ", "))]"
                let link = "</e\(number)?page=\(page + 1)>; rel=next"
                api.set(
                    Self.path(number, page), body, etag: entity.hasTags ? "\"\(BodyDigest(of: body))-\(page + 1 < pages.count)\"" : nil,
                    headers: page + 1 < pages.count ? ["Link": link] : [:])
            }
        }
    }

    static func path(_ entity: Int, _ page: Int) -> String { page == 0 ? "/e\(entity)" : "/e\(entity)?page=\(page)" }

    // MARK: As rows

    /// What the rows of an entity have to be: of each its values, and what of that which is listed its relationships lead to.
    func rows(of entity: Int) -> [String] {
        records[entity].map { key, record in
            let links = zip(entities[entity].relationships, record.links).map { relationship, keys in
                "\(relationship.name) \(keys.filter { records[relationship.target][$0] != nil }.sorted())"
            }
            let values = zip(entities[entity].attributes, record.values).map { Self.text($0, $1) }
            return ([String(key)] + values + links).joined(separator: " | ")
        }.sorted()
    }

    private static func text(_ kind: Kind, _ json: String) -> String {
        if json == "null" { return "nil" }
        return switch kind {
        case .string: json == "\"\\u0041\\n\"" ? "A\n" : String(json.dropFirst().dropLast())
        case .integer, .flag: json
        case .real: "\(Double(json) ?? .nan)"
        }
    }
}
