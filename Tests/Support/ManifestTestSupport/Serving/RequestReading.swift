/// A request that is taken apart: what is expected is taken out of it, and nothing may be left in the end.
struct RequestReading {
    let method: String
    /// Decoded.
    let path: String
    private let headers: [String: String]
    private var query: [(name: String, value: String)]
    private var json: DataValue?
    private var form: [(name: String, value: String)] = []
    private var unread: [UInt8]
    /// What was found at the marks of templates.
    private(set) var captures: [TemplateScope.Mark: String] = [:]

    init(_ request: APIRequest) {
        method = request.method
        headers = request.headers
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = Self.decoded(parts.first ?? "", isForm: false)
        query = parts.count > 1 ? Self.fields(parts[1]) : []
        unread = request.body
    }

    /// The parameters of the address, as they are now.
    var parameters: [(name: String, value: String)] { query }

    static func fields(_ text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: decoded(parts[0], isForm: true), value: parts.count > 1 ? decoded(parts[1], isForm: true) : "")
        }
    }

    static func decoded(_ text: Substring, isForm: Bool) -> String {
        var bytes: [UInt8] = [], rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: The body

    /// Reads the body as JSON; an empty one is an empty object.
    mutating func readJSON() throws(RequestFault) {
        guard !unread.isEmpty else { return }
        do {
            json = try DataValue(json: unread)
        } catch {
            throw RequestFault("the body is no JSON: \(error)")
        }
        unread = []
    }

    mutating func readForm() {
        let text = String(decoding: unread, as: UTF8.self)
        form = Self.fields(text[...])
        unread = []
    }

    // MARK: Taking

    /// Takes what stands at a place; nil where nothing does.
    mutating func take(_ place: RequestPlace) throws(RequestFault) -> String? {
        switch place {
        case .query(let name): return try Self.take(name, &query)
        case .form(let name): return try Self.take(name, &form)
        case .header(let name): return headers[name]
        case .json(let path):
            guard let value = json?.at(path) else { return nil }
            json?.remove(at: path)
            return value.shown
        case .path: return nil
        }
    }

    /// The same name with the same value twice is one; with another value it is a fault.
    private static func take(_ name: String, _ fields: inout [(name: String, value: String)]) throws(RequestFault) -> String? {
        let values = Set(fields.filter { $0.name == name }.map(\.value))
        guard values.count < 2 else { throw RequestFault("\(name) comes with several values: \(values.sorted())") }
        fields.removeAll { $0.name == name }
        return values.first
    }

    /// Takes what must stand there.
    mutating func expect(_ text: String, at place: RequestPlace) throws(RequestFault) {
        let found = try take(place)
        guard let found else { throw RequestFault("\(place) is missing, which should be \(text)") }
        let pattern = TextPattern(text)
        guard let captures = pattern.captures(in: found) else { throw RequestFault("\(place) is \(found), not \(text)") }
        self.captures.merge(captures) { $1 }
    }

    /// Takes what the members say, which are templates. What says only which page is meant, or from where on, may be missing.
    mutating func expect(_ members: [DataValue.Member], in scope: TemplateScope, at place: (String) -> RequestPlace) throws(RequestFault) {
        for member in members {
            let text = Self.rendered(member.value, scope).shown
            let spot = place(member.name)
            if text == TemplateScope.Mark.page.text || text == TemplateScope.Mark.since.text || text.isEmpty {
                if let found = try take(spot), let captures = TextPattern(text).captures(in: found) { self.captures.merge(captures) { $1 } }
            } else {
                try expect(text, at: spot)
            }
        }
    }

    /// Takes a body that is JSON: as the templates in it say.
    mutating func expectJSON(_ expected: DataValue, in scope: TemplateScope) throws(RequestFault) {
        let found = json ?? .null
        json = nil
        try compare(expected, found, scope, at: "the body")
    }

    private mutating func compare(_ expected: DataValue, _ found: DataValue?, _ scope: TemplateScope, at place: String) throws(RequestFault) {
        switch expected {
        case .object(let members):
            for member in members {
                // Names may be templates, too.
                let name = Self.rendered(.text(member.name), scope).shown
                try compare(member.value, found?[name], scope, at: "\(place).\(name)")
            }
            for member in found?.members ?? [] where member.value != .object([]) {
                let isKnown = members.contains { Self.rendered(.text($0.name), scope).shown == member.name }
                if !isKnown { throw RequestFault("\(place).\(member.name) does not belong there") }
            }
        case .list(let elements):
            guard let list = found?.list, list.count == elements.count else { throw RequestFault("\(place) is \(found?.json ?? "missing")") }
            for (index, element) in elements.enumerated() { try compare(element, list[index], scope, at: "\(place)[\(index)]") }
        case .text(let source) where source.contains("{{"):
            let text = Self.rendered(expected, scope).shown
            guard let found else {
                if [TemplateScope.Mark.page.text, TemplateScope.Mark.since.text, ""].contains(text) { return }
                throw RequestFault("\(place) is missing")
            }
            guard let captures = TextPattern(text).captures(in: found.shown) else { throw RequestFault("\(place) is \(found.json), not \(text)") }
            self.captures.merge(captures) { $1 }
        default:
            guard let found, expected.isSame(as: found) else { throw RequestFault("\(place) is \(found?.json ?? "missing"), not \(expected.json)") }
        }
    }

    private static func rendered(_ value: DataValue, _ scope: TemplateScope) -> DataValue {
        guard let text = value.text, text.contains("{{"), let template = try? TemplateText(text) else { return value }
        return template.value(in: scope)
    }

    /// Nothing may be left.
    func finish() throws(RequestFault) {
        if let parameter = query.first { throw RequestFault("the parameter \(parameter.name)=\(parameter.value) does not belong there") }
        if let field = form.first { throw RequestFault("the field \(field.name)=\(field.value) does not belong there") }
        if let json, !json.isNull, !isEmpty(json) { throw RequestFault("the body has what does not belong there: \(json.json)") }
        let body = String(decoding: unread, as: UTF8.self)
        if !body.isEmpty, body != "{}" { throw RequestFault("there is a body, where none belongs: \(body)") }
    }

    /// Objects with nothing but such in them.
    private func isEmpty(_ value: DataValue) -> Bool { value.members?.allSatisfy { isEmpty($0.value) } ?? false }
}
