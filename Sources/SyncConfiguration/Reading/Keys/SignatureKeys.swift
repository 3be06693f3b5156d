/// What `auth` says of signed requests, as it stands in the files.
struct SignatureTable {
    typealias RequestSignature = AuthenticationConfiguration.RequestSignature

    var keyID: SecretText?
    var template: SignatureTemplate?
    var encoding = SignatureTemplate.Encoding.hex
    var headerValue = SignatureTemplate.signatureAlone
    var timestampFormat = DateFormat.unix
    var timestampHeader: String?
    var timestampParameter: String?
    var nonceHeader: String?
    var nonceParameter: String?

    /// The keys, for a table that has them among its own.
    static func keys<Root>(at path: WritableKeyPath<Root, Self>) -> [Key<Root>] {
        let header = Codec<String>.headerName.optional(), parameter = Codec<String>.text("the name of a parameter", maxLength: 128).optional()
        return [
            Key(
                "key_id", Codec<SecretText>.textOrSecret("the name of a key or a reference", maxLength: 1024).optional(),
                path.appending(path: \Self.keyID)),
            Key("template", Codec<SignatureTemplate>.signed.optional(), path.appending(path: \Self.template)),
            Key("encoding", Codec<SignatureTemplate.Encoding>.choice(SignatureTemplate.Encoding.self), path.appending(path: \Self.encoding)),
            Key("header_value", Codec<SignatureTemplate>.headerValue, path.appending(path: \Self.headerValue)),
            Key("timestamp_format", Codec<DateFormat>.dateFormat, path.appending(path: \Self.timestampFormat)),
            Key("timestamp_header", header, path.appending(path: \Self.timestampHeader)),
            Key("timestamp_param", parameter, path.appending(path: \Self.timestampParameter)),
            Key("nonce_header", header, path.appending(path: \Self.nonceHeader)),
            Key("nonce_param", parameter, path.appending(path: \Self.nonceParameter)),
        ]
    }
}

extension AuthenticationTable {
    /// `algorithm` as it is written: of a token that is signed, or of a request.
    enum WrittenAlgorithm: Hashable {
        case token(AuthenticationConfiguration.WebToken.Algorithm)
        case request(AuthenticationConfiguration.RequestSignature.Algorithm)
    }

    /// `kind = "hmac"`.
    func hmac(_ reading: AuthenticationReading) -> AuthenticationConfiguration {
        reading.need("key")
        reading.need("template", "write template = \"{method}\\n{target}\\n{timestamp}\", as the service says what is signed")
        let carrier = carrier(reading)
        if case .token(let algorithm) = self.algorithm {
            reading.complain("algorithm", "\(algorithm.rawValue) signs tokens", "write algorithm = \"sha256\"")
        }
        guard let key = webToken.key, let template = signature.template, case .request(let algorithm) = self.algorithm else { return .none }
        var result = AuthenticationConfiguration.RequestSignature(key: key, template: template, in: carrier)
        result.keyEncoding = webToken.keyEncoding
        result.keyID = signature.keyID
        result.algorithm = algorithm
        result.encoding = signature.encoding
        result.timestampFormat = signature.timestampFormat
        (result.timestampHeader, result.timestampParameter) = (signature.timestampHeader, signature.timestampParameter)
        (result.nonceHeader, result.nonceParameter) = (signature.nonceHeader, signature.nonceParameter)
        check(result, reading)
        return .hmac(result)
    }

    /// What carries the signature.
    private func carrier(_ reading: AuthenticationReading) -> AuthenticationConfiguration.RequestSignature.Carrier {
        switch place {
        case .header:
            if reading.table["name"] != nil { reading.complain("name", "\"name\" belongs to in = \"query\"", "write header = \"\(name)\"") }
        case .query:
            if reading.table["name"] == nil {
                reading.complain("name", "\"name\" is missing; in = \"query\" needs it", "write name = \"signature\", as the service calls it")
            }
            for key in ["header", "header_value"] where reading.table[key] != nil {
                reading.complain(key, "\"\(key)\" belongs to in = \"header\"", "remove it, or in")
            }
            return .query(name)
        case .cookie, .body:
            reading.complain("in", "a signature stands in a header or in the query", "write in = \"header\" or in = \"query\"")
        }
        return .header(header, signature.headerValue)
    }

    /// What the service could not check, and what nobody would see.
    private func check(_ result: AuthenticationConfiguration.RequestSignature, _ reading: AuthenticationReading) {
        var shown: Set<SignatureTemplate.Place> = []
        if case .header(_, let value) = result.carrier { shown = value.places }
        let signed = result.template.places
        if signed.union(shown).contains(.keyID) {
            reading.need("key_id", "write key_id = \"…\", as the service calls the key, or key_id = { credential = \"ID\" }")
        } else if result.keyID != nil {
            reading.complain("key_id", "key_id stands nowhere", "write {key_id} in header_value or template, or remove it")
        }
        let isTold = shown.contains(.timestamp) || result.timestampHeader != nil || result.timestampParameter != nil
        if signed.contains(.timestamp), !isTold {
            reading.complain(
                "template", "the time that is signed is not sent, and the service cannot know it",
                "write timestamp_header = \"X-Timestamp\", or timestamp_param, as the service calls it")
        }
        let isShown = shown.contains(.nonce) || result.nonceHeader != nil || result.nonceParameter != nil
        if signed.contains(.nonce), !isShown {
            reading.complain(
                "template", "the nonce that is signed is not sent, and the service cannot know it",
                "write nonce_header = \"X-Nonce\", or nonce_param, as the service calls it")
        }
        if case .header(let name, _) = result.carrier,
            signed.contains(where: { if case .header(let other) = $0 { other.lowercased() == name.lowercased() } else { false } })
        {
            reading.complain("template", "the header \(name) carries the signature, and cannot be part of what is signed", "remove {header:\(name)}")
        }
        var known: [String: String] = [:]
        for (place, name) in result.names {
            let key = place == .header ? "header \(name.lowercased())" : "parameter \(name)"
            if let other = known.updateValue(name, forKey: key) {
                reading.complain("kind", "the \(place == .header ? "header" : "parameter") \(other) has two values", "use two names")
            }
        }
    }
}

extension Codec where Value == AuthenticationTable.WrittenAlgorithm {
    static var algorithm: Codec {
        typealias Tokens = AuthenticationConfiguration.WebToken.Algorithm
        typealias Requests = AuthenticationConfiguration.RequestSignature.Algorithm
        let tokens = Codec<Tokens>.choice(Tokens.self), requests = Codec<Requests>.choice(Requests.self)
        let expected = "\(tokens.expected), of a request \(requests.expected)"
        return Codec(expected: expected, wrong: tokens.wrong) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            if let algorithm = Tokens(rawValue: text) { return .value(.token(algorithm)) }
            if let algorithm = Requests(rawValue: text) { return .value(.request(algorithm)) }
            let words = Tokens.allCases.map(\.rawValue) + Requests.allCases.map(\.rawValue)
            return mismatch(node, expected, suggestion(for: text, among: words, kind: "known words"))
        } toml: {
            switch $0 {
            case .token(let algorithm): tokens.toml(algorithm)
            case .request(let algorithm): requests.toml(algorithm)
            }
        }
    }
}

extension Codec where Value == SignatureTemplate {
    /// What is signed.
    static var signed: Codec {
        let places =
            "{method}, {path}, {query}, {target}, {host}, {body}, {body_sha256}, {timestamp}, {nonce}, {key_id} or {header:NAME}"
        return template(
            "a text such as \"{method}\\n{target}\\n{timestamp}\"", places: places, wrong: ["\"{signature}\"", "\"{header:Content-Length}\""]
        ) { template in
            if template.places.contains(.signature) { return ("the signature is made of the text, and cannot be part of it", "remove {signature}") }
            for case .header(let name) in template.places where Self.late.contains(name.lowercased()) {
                return ("the header \(name) is written when the request is sent, after it was signed", "remove {header:\(name)}")
            }
            return nil
        }
    }

    /// The headers that belong to the connection (RFC 9110, 7.6.1; RFC 9112, 6): they are made while a request is sent.
    private static var late: Set<String> {
        ["content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "proxy-connection"]
    }

    /// What the header says that carries the signature.
    static var headerValue: Codec {
        let places = "{signature}, {key_id}, {timestamp} or {nonce}", known: Set<SignatureTemplate.Place> = [.signature, .keyID, .timestamp, .nonce]
        return template(
            "a text such as \"HMAC {key_id}:{signature}\"", places: places, wrong: ["\"{key_id}\"", "\"{body}{signature}\"", "\"ä {signature}\""]
        ) { template in
            if !RequestName.isHeaderValue(template.description) {
                return ("a header may only hold printable ASCII characters", "remove the others")
            }
            if !template.places.contains(.signature) { return ("the signature is not in it", "write {signature} where it belongs") }
            return template.places.isSubset(of: known) ? nil : ("a header does not hold that", "write \(places)")
        }
    }

    private static func template(
        _ expected: String, places: String, wrong: [String], check: @escaping (SignatureTemplate) -> (message: String, suggestion: String)?
    ) -> Codec {
        Codec(expected: expected, wrong: ["1", "true", "[]", "\"\"", "\"{methd}\"", "\"{header:}\"", "\"{body_sha256:x}\""] + wrong) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            if text.isEmpty { return .wrong("the text is empty", "write \(expected)") }
            guard text.utf8.count <= 4096 else { return .wrong("the text is longer than 4096 bytes", "shorten it") }
            do throws(SignatureTemplate.UnknownPlace) {
                let template = try SignatureTemplate(text)
                if let problem = check(template) { return .wrong(problem.message, problem.suggestion) }
                return .value(template)
            } catch {
                return .wrong("there is no place {\(error.text)}", "write \(places); {{\(error.text)}} is the text itself")
            }
        } toml: {
            tomlQuoted($0.description)
        }
    }
}
