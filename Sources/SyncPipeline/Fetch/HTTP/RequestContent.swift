import SyncConfiguration

/// A body as it is sent: its bytes, what they are, and what tells them from others.
public struct RequestContent: Sendable, Hashable, CustomStringConvertible {
    /// The `Content-Type`, unless the configuration says another.
    public let mediaType: String
    /// All of it, UTF-8.
    public let bytes: [UInt8]
    /// Of the bytes: SHA-256.
    public let digest: BodyDigest
    private let body: RequestBody?

    /// The content of a body whose templates have been filled; nil: there is nothing to send.
    ///
    /// Members of objects come in their order, so that equal bodies are equal bytes. In a form everything but unreserved characters is escaped, so
    /// that no server can read a value in two ways.
    init(_ body: RequestBody?) {
        self.body = body
        mediaType =
            switch body {
            case nil: ""
            case .json?: "application/json"
            case .form?: "application/x-www-form-urlencoded"
            }
        let text = body.map { Self.text(of: $0) } ?? ""
        bytes = Array(text.utf8)
        digest = BodyDigest(of: text)
    }

    /// The bytes with texts in some places of the body, as they go on the wire and are kept nowhere. It takes no digest of them.
    ///
    /// - Parameter texts: each with its place, as in `RequestBody.setting(_:at:)`.
    /// - Returns: nil where the body has no such place.
    func bytes(setting texts: [(place: String, text: String)]) -> [UInt8]? {
        guard var body else { return nil }
        for (place, text) in texts {
            guard let filled = body.setting(.text(text), at: place) else { return nil }
            body = filled
        }
        return Array(Self.text(of: body).utf8)
    }

    private static func text(of body: RequestBody) -> String {
        switch body {
        case .json(let value):
            var json = ""
            value.write(to: &json)
            return json
        case .form(let fields):
            return fields.map { field in "\(HTTPAddress.encode(field.name))=\(HTTPAddress.encode(field.value))" }.joined(separator: "&")
        }
    }

    /// Whether there is no body: then it has no type either. A form without fields is one, which secrets may be put into.
    public var isEmpty: Bool { body == nil }

    /// The text. It may hold what a server sent, such as a cursor.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension BodyValue {
    /// Writes the value as JSON (RFC 8259), without white space.
    fileprivate func write(to json: inout String) {
        switch self {
        case .boolean(let flag): json += "\(flag)"
        case .number(let digits): json += digits
        case .text(let text): Self.write(text, to: &json)
        case .template(let template): Self.write(template.description, to: &json)
        case .array(let elements):
            json += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { json += "," }
                element.write(to: &json)
            }
            json += "]"
        case .object(let members):
            json += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { json += "," }
                Self.write(member.name, to: &json)
                json += ":"
                member.value.write(to: &json)
            }
            json += "}"
        }
    }

    private static func write(_ text: String, to json: inout String) {
        json += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            case _ where scalar.value < 0x20: json += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: json.unicodeScalars.append(scalar)
            }
        }
        json += "\""
    }
}
