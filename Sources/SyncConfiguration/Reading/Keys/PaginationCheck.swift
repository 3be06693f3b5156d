import JSONPaths

/// Complains of what a table `pages` says that does not fit together, or not with the request that it is about.
struct PaginationCheck {
    let layer: Layer
    let table: [String: DocumentNode]
    let resource: ResourceConfiguration
    let complaints: Complaints

    /// A key that a kind cannot do without.
    func need(_ key: String, of kind: PaginationTable.Kind, _ suggestion: String) {
        // A value that was refused has been complained about.
        guard table[key] == nil else { return }
        complaints.add(at: layer.node?.place, layer.subject, key: key, "kind = \"\(kind.rawValue)\" needs \(key)", suggestion)
    }

    /// Two keys of which a kind needs one.
    func one(_ first: String, _ second: String, of kind: PaginationTable.Kind, _ suggestion: String) {
        if table[first] != nil, let both = table[second] {
            complaints.add(
                at: both.place, layer.subject, key: second, "\(first) and \(second) cannot be used together", "remove one of them")
        }
        guard table[first] == nil, table[second] == nil else { return }
        complaints.add(at: layer.node?.place, layer.subject, key: first, "kind = \"\(kind.rawValue)\" needs \(first) or \(second)", suggestion)
    }

    /// What carries the place of a page, and what asks for its size.
    ///
    /// - Parameter key: where the parameter of the size is set.
    func names(_ parameter: String, _ size: String?, key: String, in place: PaginationConfiguration.Place) {
        guard parameter != size else {
            return complaints.add(
                at: table[key]?.place ?? table["param"]?.place, layer.subject, key: key, "param and \(key) are both \"\(parameter)\"",
                "use the names the service expects")
        }
        name(parameter, key: "param", in: place)
        if let size, place != .body || resource.body != nil { name(size, key: key, in: place) }
    }

    /// What carries something in a request: of the header a name, of the body a place that it has.
    func name(_ parameter: String, key: String, in place: PaginationConfiguration.Place) {
        switch place {
        case .query: break
        case .header:
            guard !RequestName.isToken(parameter) else { return }
            complaints.add(
                at: table[key]?.place ?? table["in"]?.place, layer.subject.key(key), "\"\(parameter)\" is not the name of a header",
                "use letters, digits and \"-\"")
        case .body:
            guard let body = resource.body else {
                return complaints.add(
                    at: table["in"]?.place, layer.subject, key: "in", "in = \"body\" needs a request that has one",
                    "write method = \"POST\" and json = { … } or form = { … } at the resource")
            }
            guard let problem = body.complaint(place: parameter) else { return }
            complaints.add(at: table[key]?.place ?? table["in"]?.place, layer.subject.key(key), problem.message, problem.suggestion)
        }
    }

    /// The variable of a query that gets the cursor.
    func variable(of graphQL: PaginationConfiguration.GraphQL) {
        let place = table["variable"]?.place ?? layer.node?.place
        if let stop = table["stop"]?.table?["has_more"] {
            complaints.add(
                at: stop.place, layer.subject.key("stop"), key: "has_more", "hasNextPage says whether there is more", "remove has_more")
        }
        guard let body = resource.body, case .json(let value) = body else {
            return complaints.add(
                at: table["kind"]?.place, layer.subject, key: "kind", "kind = \"graphql\" needs a query",
                "write query = \"…\" or query_file = \"NAME.graphql\" at the resource")
        }
        if let problem = body.complaint(place: graphQL.parameter) {
            return complaints.add(at: place, layer.subject, key: "variable", problem.message, problem.suggestion)
        }
        if value.member("variables")?.member(graphQL.variable) != nil {
            return complaints.add(
                at: place, layer.subject, key: "variable", "the variable \(graphQL.variable) has a value already, and the cursor goes there",
                "remove it from variables: the first request goes without")
        }
        guard let query = value.member("query")?.plainText, !GraphQLQuery.declares(graphQL.variable, in: query) else { return }
        complaints.add(
            at: place, layer.subject, key: "variable", "the query has no variable $\(graphQL.variable), and the cursor would go nowhere",
            "declare it, as in query($\(graphQL.variable): String), and write after: $\(graphQL.variable) where the connection is asked for")
    }

    /// Where `pageInfo` likely is: beside the records.
    var suggestedPageInfo: String {
        guard let records = resource.records, !records.segments.isEmpty else { return "$.data.items.pageInfo" }
        return JSONPath(segments: records.segments.dropLast() + [.key("pageInfo")]).description
    }
}

/// What can be said of the text of a GraphQL query without its schema.
enum GraphQLQuery {
    /// Longer ones are a mistake.
    static let longest = ByteCount.kibibytes(256)

    /// What is wrong with a query, and what to do about it; nil: nothing that could be seen.
    static func complaint(_ text: String) -> (message: String, suggestion: String)? {
        if text.utf8.count > longest.bytes { return ("the query is longer than \(longest)", "ask for less at once") }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 && !["\t", "\n", "\r"].contains($0) || $0.value == 0x7F }) {
            return ("the query contains control characters", "remove them")
        }
        let words = code(of: text)
        if words.allSatisfy({ $0.isWhitespace }) { return ("the query is empty", "write a query such as \"{ items { id } }\"") }
        let first = words.drop { $0.isWhitespace || $0 == "," || $0 == "\u{FEFF}" }.prefix { $0.isLetter }
        if first == "mutation" || first == "subscription" {
            return ("this is a \(first), and cisternd only reads", "write a query")
        }
        return words.contains("{") ? nil : ("this is no query: it asks for nothing", "write a query such as \"{ items { id } }\"")
    }

    /// Whether a text can be the name of a variable or a field (GraphQL, 2.1.9).
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy(isNameByte)
    }

    /// Whether a query may declare a variable: its name is somewhere in the text.
    static func declares(_ variable: String, in text: String) -> Bool {
        let bytes = Array(text.utf8), name = Array("$\(variable)".utf8)
        guard bytes.count >= name.count else { return false }
        return (0...bytes.count - name.count).contains { start in
            let end = start + name.count
            return bytes[start..<end].elementsEqual(name) && (end == bytes.count || !isNameByte(bytes[end]))
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// The text without its comments. A "#" inside of a text is taken for one, too: nothing is decided by what follows it.
    private static func code(of text: String) -> String {
        text.split(omittingEmptySubsequences: false) { $0.isNewline }.map { line in String(line.prefix { $0 != "#" }) }.joined(separator: "\n")
    }
}
