/// The description of a service, as OpenAPI 3.0 and 3.1 or Swagger 2.0 have it. Its references are followed within the document; nothing else is ever
/// asked for.
struct OpenAPIDocument {
    static let mostBytes = 16 << 20
    static let mostValues = 2_000_000
    /// How many references may lead from one to the next.
    private static let longestChain = 32

    /// How many values may be asked for, for one operation and for all of them: schemas that are made of others again and again are given up.
    private static let mostSteps = 200_000
    private static let mostOfAll = 10_000_000

    private final class Steps {
        var count = 0
        var all = 0
    }

    private let steps = Steps()
    let root: ManifestMapping
    /// Swagger 2.0, which has some things elsewhere.
    let isSwagger: Bool

    /// A value at the end of its references.
    struct Resolved {
        let value: ManifestValue
        /// The schema of the document that it is, by name; nil: it stands where it is used.
        let component: String?
    }

    /// - Throws: `ManifestError` for a file that is no such description.
    init(_ bytes: [UInt8], file: String) throws {
        var reader = ManifestReader(file: file, mostBytes: Self.mostBytes, mostValues: Self.mostValues)
        let value = try reader.read(bytes)
        guard let root = value.mapping else { throw ManifestError(file: file, line: value.line, "it describes no service: a mapping was expected") }
        self.root = root
        if let version = root["openapi"]?.scalar {
            guard version.hasPrefix("3.") else {
                throw ManifestError(
                    file: file, line: root.line(of: "openapi"), "OpenAPI \(ManifestValue.shortened(version)) is not known: 3.0 and 3.1 are")
            }
            isSwagger = false
        } else if let version = root["swagger"]?.scalar {
            guard version.hasPrefix("2") else {
                throw ManifestError(file: file, line: root.line(of: "swagger"), "Swagger \(ManifestValue.shortened(version)) is not known: 2.0 is")
            }
            isSwagger = true
        } else {
            throw ManifestError(file: file, "it has neither openapi nor swagger")
        }
        guard root["paths"]?.mapping != nil else { throw ManifestError(file: file, "it has no paths") }
    }

    /// Another operation begins.
    func begin() { steps.count = 0 }

    /// What a value refers to.
    /// - Throws: `Unsayable` for what is not in this document.
    func resolved(_ value: ManifestValue) throws(Unsayable) -> Resolved {
        var value = value, component: String?
        steps.count += 1
        steps.all += 1
        guard steps.count <= Self.mostSteps, steps.all <= Self.mostOfAll else { throw Unsayable("its references lead to more than can be followed") }
        for _ in 0..<Self.longestChain {
            guard let reference = value.mapping?["$ref"] else { return Resolved(value: value, component: component) }
            guard let text = reference.text, text.hasPrefix("#/") else {
                throw Unsayable("what \(reference.brief) refers to is not in this document, and is not fetched")
            }
            (value, component) = try target(text)
        }
        throw Unsayable("its references lead in a circle")
    }

    private func target(_ reference: String) throws(Unsayable) -> (ManifestValue, String?) {
        let names = reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false).map { Self.unescaped($0) }
        var current = ManifestValue(.mapping(root), line: 1)
        for name in names {
            let next =
                current.mapping?[name]
                ?? Int(name).flatMap { index in
                    current.list.flatMap { $0.indices.contains(index) ? $0[index] : nil }
                }
            guard let next else { throw Unsayable("\(ManifestValue.shortened(reference)) leads nowhere") }
            current = next
        }
        let isSchema = names.count == 3 && names.starts(with: ["components", "schemas"]) || names.count == 2 && names[0] == "definitions"
        return (current, isSchema ? names.last : nil)
    }

    /// A piece of a JSON Pointer in a fragment (RFC 6901, 4 and 6).
    private static func unescaped(_ piece: Substring) -> String {
        var bytes: [UInt8] = [], rest = Array(piece.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self).replacing("~1", with: "/").replacing("~0", with: "~")
    }

    // MARK: Recognising one

    private static let names = ["openapi", "swagger"].map { Array($0.utf8)[...] }

    /// Whether bytes look like the description of a service: a member that says so, of the outermost object.
    static func isOne(_ bytes: [UInt8]) -> Bool {
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while start < bytes.count, isBlank(bytes[start]) { start += 1 }
        guard start < bytes.count else { return false }
        return bytes[start] == UInt8(ascii: "{") ? hasMember(bytes, from: start) : hasLine(bytes)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func hasMember(_ bytes: [UInt8], from start: Int) -> Bool {
        var depth = 0, index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let begin = index + 1
                index = begin
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
                let end = min(index, bytes.count)
                if depth == 1, names.contains(bytes[begin..<end]), saysVersion(bytes[min(end + 1, bytes.count)...]) { return true }
            default: break
            }
            index += 1
        }
        return false
    }

    private static func hasLine(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains { line in
            let line = line.drop { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
            return names.contains { name in
                line.starts(with: name) && saysVersion(line.dropFirst(name.count).drop { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") })
            }
        }
    }

    /// Whether a colon follows, and the number of a version.
    private static func saysVersion(_ rest: ArraySlice<UInt8>) -> Bool {
        let rest = rest.drop { isBlank($0) }
        guard rest.first == UInt8(ascii: ":") else { return false }
        let value = rest.dropFirst().drop { isBlank($0) || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
        return value.first == UInt8(ascii: "2") || value.first == UInt8(ascii: "3")
    }
}
