/// A way in which a service writes and lists records, and what a resource says to read it. All of them write the same records.
struct FuzzKind: Sendable {
    enum Packing {
        case gzip, zip
    }

    /// A list beside that of the records: of what is gone.
    struct Other: Sendable {
        let lines: String
        let body: @Sendable (Int) -> String
    }

    static let records = 5
    private static let names = ["id", "name", "count", "price", "isOpen", "at"]

    let name: String
    /// What stands in the table of the resource; `#` is the number of the resource.
    let lines: String
    var contentType = "application/json"
    var packing: Packing?
    var other: Other?
    /// What is answered to the resource of this number.
    let body: @Sendable (Int) -> String

    // MARK: Records

    /// The columns of interest of a resource's rows, as SQL shows them.
    static func rows(_ index: Int) -> [String] { (0..<records).map { "\(index * 100 + $0)|n\($0)|\($0)|\($0).5|1" } }

    /// The values of a record, as JSON, in the order of `names`.
    private static func values(_ index: Int, _ i: Int) -> [String] {
        ["\(index * 100 + i)", "\"n\(i)\"", "\(i)", "\(i).5", "true", "\"2024-01-0\(i + 1)T00:00:00Z\""]
    }

    /// A record, without the first so many members, and with others behind them.
    private static func object(_ index: Int, _ i: Int, dropping count: Int = 0, _ more: String = "") -> String {
        "{\(zip(names, values(index, i)).dropFirst(count).map { "\"\($0)\": \($1)" }.joined(separator: ", "))\(more)}"
    }

    private static func objects(_ index: Int, _ numbers: Range<Int> = 0..<records, _ more: String = "") -> String {
        "[\(numbers.map { object(index, $0, dropping: 0, more) }.joined(separator: ", "))]"
    }

    private static func table(_ index: Int, _ divider: String) -> [String] {
        (0..<records).map { values(index, $0).map { $0.replacing("\"", with: "") }.joined(separator: divider) }
    }

    private static func rowsOfValues(_ index: Int) -> String {
        "[\((0..<records).map { "[\(values(index, $0).joined(separator: ", "))]" }.joined(separator: ", "))]"
    }

    private static func column(_ index: Int, _ place: Int) -> String {
        "\"\(names[place])\": [\((0..<records).map { values(index, $0)[place] }.joined(separator: ", "))]"
    }

    // MARK: Kinds

    static let all = pages + formats + places + changes

    private static let pages = [
        FuzzKind(name: "link-header", lines: "pages = { kind = \"link-header\" }") { objects($0) },
        FuzzKind(name: "cursor", lines: "records = \"$.items\"\npages = { kind = \"cursor\", path = \"$.next\", param = \"after\" }") {
            "{\"next\": null, \"items\": \(objects($0))}"
        },
        FuzzKind(name: "page", lines: "records = \"$.items\"\npages = { kind = \"page\", size = \(records * 2), stop = { short_page = true } }") {
            "{\"next\": null, \"items\": \(objects($0))}"
        },
        FuzzKind(
            name: "keyset", lines: "records = \"$.items\"\npages = { kind = \"keyset\", from = \"$.id\", stop = { has_more = \"$.more\" } }"
        ) { "{\"items\": \(objects($0)), \"more\": false}" },
        FuzzKind(
            name: "offset in a body",
            lines: """
                method = "POST"
                idempotent = true
                json = { of = "#" }
                records = "$.items"
                pages = { kind = "offset", in = "body", param = "/from", limit_param = "/size", limit = 10, stop = { total = "$.total" } }
                """
        ) { "{\"total\": \(records), \"items\": \(objects($0))}" },
        FuzzKind(
            name: "GraphQL",
            lines: """
                query = "query Items($after: String) { items(after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"
                idempotent = true
                records = "$.data.items.nodes"
                pages = { kind = "graphql", page_info = "$.data.items.pageInfo" }
                """
        ) { "{\"data\": {\"items\": {\"nodes\": \(objects($0)), \"pageInfo\": {\"hasNextPage\": false, \"endCursor\": null}}}}" },
    ]

    private static let formats = [
        FuzzKind(name: "csv", lines: "format = \"csv\"", contentType: "text/csv") {
            ([names.joined(separator: ",")] + table($0, ",")).joined(separator: "\n") + "\n"
        },
        FuzzKind(
            name: "csv without a header",
            lines: "format = \"csv\"\ncsv = { delimiter = \";\", header = false, columns = \(names) }", contentType: "text/csv"
        ) { table($0, ";").joined(separator: "\r\n") + "\r\n" },
        FuzzKind(name: "ndjson", lines: "format = \"ndjson\"", contentType: "application/x-ndjson") { index in
            (0..<records).map { object(index, $0) + "\n" }.joined()
        },
        FuzzKind(name: "json-seq", lines: "format = \"json-seq\"", contentType: "application/json-seq") { index in
            (0..<records).map { "\u{1E}\(object(index, $0))\n" }.joined()
        },
        FuzzKind(name: "gzip", lines: "format = \"ndjson\"\nunpack = \"gzip\"", contentType: "application/gzip", packing: .gzip) { index in
            (0..<records).map { object(index, $0) + "\n" }.joined()
        },
        FuzzKind(
            name: "zip", lines: "format = \"csv\"\nunpack = \"zip\"\nzip_entry = \"row*\"", contentType: "application/zip", packing: .zip
        ) { ([names.joined(separator: ",")] + table($0, ",")).joined(separator: "\n") + "\n" },
        FuzzKind(name: "columns", lines: "records = \"$.rows\"\ncolumns = \(names)") { "{\"rows\": \(rowsOfValues($0))}" },
        FuzzKind(name: "named columns", lines: "records = \"$.rows\"\ncolumns = \"$.fields[*].name\"") {
            "{\"fields\": [\(names.map { "{\"name\": \"\($0)\"}" }.joined(separator: ", "))], \"rows\": \(rowsOfValues($0))}"
        },
        FuzzKind(name: "nothing but columns", lines: "records = \"$.hourly\"\ncolumns = \"members\"") { index in
            "{\"hourly\": {\(names.indices.map { column(index, $0) }.joined(separator: ", "))}}"
        },
    ]

    private static let places = [
        FuzzKind(name: "list", lines: "records = \"$.items\"") { "{\"next\": null, \"items\": \(objects($0))}" },
        FuzzKind(name: "wildcard", lines: "records = \"$.groups[*].items\"") {
            "{\"groups\": [{\"items\": \(objects($0, 0..<2))}, {\"items\": []}, {\"items\": \(objects($0, 2..<records))}]}"
        },
        FuzzKind(name: "map", lines: "records = \"$.result.*\"\nmap_key = \"id\"") { index in
            "{\"result\": {\((0..<records).map { "\"\(index * 100 + $0)\": \(object(index, $0, dropping: 1))" }.joined(separator: ", "))}}"
        },
        FuzzKind(
            name: "also",
            lines:
                "records = \"$.items\"\nalso = [{ records = \"$.included\", entity = \"Other#\", where = { path = \"$.type\", equals = \"people\" } }]"
        ) { "{\"items\": \(objects($0)), \"included\": [{\"type\": \"people\", \"id\": 1, \"name\": \"a\"}, {\"type\": \"tags\", \"id\": 2}]}" },
        FuzzKind(name: "filter", lines: "records = \"$.items\"\nfilter = [{ path = \"$.kind\", equals = \"item\" }]") { index in
            let items = objects(index, 0..<records, ", \"kind\": \"item\"").dropLast()
            return "{\"items\": \(items), {\"id\": \(index * 100 + 60), \"kind\": \"other\"}]}"
        },
        FuzzKind(
            name: "conditions",
            lines: """
                records = "$.items"
                retry_if = [{ path = "$.error", equals = "later" }]
                ignore_if = [{ path = "$.error", in = ["empty", "none"] }]
                fail_if = [{ path = "$.ok", equals = false, message = "$.error" }, { path = "$.ok", exists = false }]
                """
        ) { "{\"ok\": true, \"error\": null, \"items\": \(objects($0))}" },
    ]

    private static let changes = [
        FuzzKind(
            name: "field of deletion", lines: "records = \"$.items\"\ndeletion = { path = \"$.gone\" }"
        ) { "{\"items\": \(objects($0).dropLast()), {\"id\": \($0 * 100 + 50), \"gone\": true}]}" },
        FuzzKind(
            name: "list of deletions", lines: "records = \"$.items\"",
            other: Other(lines: "records = \"$.gone\"\ndeletion = { detect = \"records\" }") { "{\"gone\": [{\"id\": \($0 * 100 + 50)}]}" }
        ) { "{\"items\": \(objects($0))}" },
        FuzzKind(
            name: "delta token",
            lines: """
                records = "$.items"
                pages = { kind = "body-link", path = "$.next" }
                incremental = { kind = "token", path = "$.delta", param = "token" }
                """
        ) { "{\"items\": \(objects($0)), \"delta\": \"t\($0)\"}" },
        FuzzKind(name: "increment", lines: "records = \"$.items\"\nincremental = { field = \"$.at\", since = \"since\", lookback = \"5m\" }") {
            "{\"items\": \(objects($0))}"
        },
    ]
}
