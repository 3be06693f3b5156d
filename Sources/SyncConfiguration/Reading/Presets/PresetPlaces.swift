/// The places `{with.NAME}` in what a preset and its source say, and what comes into them.
///
/// A value that is all of a text takes its place as it is, a list included; where there is none, its key is left out. In a longer text a value becomes a
/// part of it, a list with `{with.NAME:join(SEPARATOR)}`. What a value may not be where it stands is complained of where it is told.
struct PresetPlaces {
    /// How a place begins.
    static let opening = "{with."

    let values: PresetValues
    let complaints: Complaints
    /// The source, for complaints.
    let subject: Subject

    /// Where a text stands, and so what a value in it may be.
    private enum Room {
        /// A source or a resource.
        case source
        case authentication, login, http, partition
        /// An address or a part of one: values are escaped.
        case address
        /// The values of headers.
        case headers
        /// A predicate.
        case filter
        /// Anything else.
        case text

        /// Where the value of a key stands.
        func inside(_ key: String) -> Room {
            switch (self, key) {
            case (.source, "resource"): .source
            case (.source, "url"), (.source, "base_url"), (.source, "path"): .address
            case (.source, "headers"), (.http, "headers"), (.login, "headers"): .headers
            case (.source, "http"): .http
            case (.source, "auth"): .authentication
            case (.source, "for_each"): .partition
            case (.authentication, "token_url"), (.login, "path"), (.login, "url"): .address
            case (.authentication, "login"): .login
            case (.partition, "where"): .filter
            case (.headers, _): .headers
            default: .text
            }
        }
    }

    /// A source with all its places filled.
    func filled(_ source: [String: DocumentNode]) -> [String: DocumentNode] {
        var result: [String: DocumentNode] = [:]
        for (key, node) in source { result[key] = filled(node, Room.source.inside(key)) }
        return result
    }

    /// Nil where the one value that it would be is none.
    private func filled(_ node: DocumentNode, _ room: Room) -> DocumentNode? {
        var result = node
        switch node.value {
        case .string(let text): return filled(text, node, room)
        case .array(let elements): result.value = .array(elements.compactMap { filled($0, room) })
        case .table(let table):
            var entries: [String: DocumentNode] = [:]
            for (key, inner) in table { entries[key] = filled(inner, room.inside(key)) }
            result.value = .table(entries)
        case .integer, .number, .boolean, .moment: break
        }
        return result
    }

    private func filled(_ text: String, _ node: DocumentNode, _ room: Room) -> DocumentNode? {
        guard text.contains(Self.opening) else { return node }
        let pieces = Self.pieces(of: text)
        if pieces.count == 1, case .place(let name, nil) = pieces[0], room != .address {
            guard isKnown(name, in: node) else { return node }
            guard let value = values[name] else { return nil }
            for text in value.array?.compactMap(\.string) ?? [value.string].compactMap(\.self) { check(text, of: name, value.place, room) }
            return value
        }
        var filled = ""
        for piece in pieces {
            switch piece {
            case .text(let text): filled += text
            case .place(let name, let separator):
                guard isKnown(name, in: node) else { continue }
                filled += part(name, separator, in: node, room, after: filled)
            case .broken(let text):
                complaints.add(
                    at: node.place, subject, "\(text) is no place for a value", "write {with.NAME}, or {with.NAME:join(,)} for a list")
            }
        }
        return DocumentNode(value: .string(filled), place: node.place)
    }

    private func isKnown(_ name: String, in node: DocumentNode) -> Bool {
        if values.parameters[name] != nil { return true }
        complaints.add(
            at: node.place, subject, "{with.\(name)}: the preset has no such parameter",
            suggestion(for: name, among: values.parameters.keys.sorted(), kind: "its parameters"))
        return false
    }

    /// A value as a part of a text.
    private func part(_ name: String, _ separator: String?, in node: DocumentNode, _ room: Room, after before: String) -> String {
        guard let value = values[name] else {
            complaints.add(
                at: node.place, subject, "{with.\(name)} is a part of a text, and \(name) need not be given",
                "give it a default, or make what has the text depend on it: when_given = [\"\(name)\"]")
            return "x"
        }
        let texts: [String]
        switch value.value {
        case .string(let text): texts = [text]
        case .integer(let integer): texts = ["\(integer)"]
        case .array(let elements): texts = elements.compactMap(\.string)
        case .number, .boolean, .moment, .table: texts = []
        }
        if value.array != nil, separator == nil {
            complaints.add(at: node.place, subject, "{with.\(name)} is a list, and a part of a text", "write {with.\(name):join(,)}")
        }
        let isHost = room == .address && Self.endsInHost(before)
        for text in texts {
            if isHost { checkHost(text, of: name, value.place) } else { check(text, of: name, value.place, room) }
        }
        let written = room == .address && !isHost ? texts.map(Self.escaped) : texts
        return written.joined(separator: separator ?? ",")
    }

    // MARK: What a value may be

    private func check(_ text: String, of name: String, _ place: DocumentNode.Place, _ room: Room) {
        func complain(_ message: String, _ suggestion: String) {
            complaints.add(at: place, values.subject.key(name), "\(tomlQuoted(text)) \(message)", suggestion)
        }
        switch room {
        case .address where text == "." || text == ".." || text.isEmpty:
            complain("cannot be part of an address", "write the name that the service uses")
        case .headers where !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }):
            complain("cannot be part of a header", "use printable ASCII characters")
        case .filter where text.contains(where: { "\"'\\".contains($0) }): complain("cannot be part of a predicate", "remove quotes and backslashes")
        case .source, .authentication, .login, .http, .partition, .address, .headers, .filter, .text: break
        }
    }

    /// A value may be one label of a host's name, and no more: it does not decide who is asked.
    private func checkHost(_ text: String, of name: String, _ place: DocumentNode.Place) {
        let isLabel = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
        }
        if isLabel, !text.hasPrefix("-"), !text.hasSuffix("-"), (1...63).contains(text.utf8.count) { return }
        complaints.add(
            at: place, values.subject.key(name), "\(tomlQuoted(text)) is not one label of a host's name",
            "write the part before the first \".\" only; for a host of another name set base_url")
    }

    /// Whether what comes next in an address is still a part of its host.
    private static func endsInHost(_ text: String) -> Bool {
        guard let separator = text.firstRange(of: "://") else { return false }
        return !text[separator.upperBound...].contains(where: { "/?".contains($0) })
    }

    /// All that could mean something in an address is written as what it is (RFC 3986, 2.1).
    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || "-._~".utf8.contains(byte)
            if isPlain {
                result.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }

    // MARK: Reading places

    private enum Piece {
        case text(String)
        case place(name: String, separator: String?)
        /// What begins as a place and is none.
        case broken(String)
    }

    private static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = [], rest = Substring(text)
        while let start = rest.firstRange(of: opening) {
            if start.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<start.lowerBound]))) }
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
                pieces.append(.broken(String(rest[start.lowerBound...])))
                return pieces
            }
            let whole = rest[start.lowerBound...end]
            pieces.append(piece(rest[start.upperBound..<end]) ?? .broken(String(whole)))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }

    /// What stands between `{with.` and `}`.
    private static func piece(_ text: Substring) -> Piece? {
        let name = String(text.prefix { $0 != ":" })
        guard Template("{\(name)}").only == Template.Reference(alias: name) else { return nil }
        guard let colon = text.firstIndex(of: ":") else { return .place(name: name, separator: nil) }
        let form = text[text.index(after: colon)...]
        guard form.hasPrefix("join("), form.hasSuffix(")") else { return nil }
        return .place(name: name, separator: String(form.dropFirst("join(".count).dropLast()))
    }
}
