/// How a manifest divides a stream.
enum DeclaredRouter: Sendable {
    /// One of several streams whose records there is a part for.
    struct Parent: Sendable {
        var stream: String
        /// The field of the parent's records.
        var key: String
        /// What templates call its value.
        var field: String
        var place: RequestPlace?
        /// Further fields of the parent's records that templates may ask for.
        var extra: [[String]]
    }

    case values([String], field: String, place: RequestPlace?)
    case parents([Parent])

    /// - Throws: `TemplateParser.Failure` for a router that is code, or that is not understood.
    init(_ declared: DataValue, _ scope: TemplateScope) throws {
        switch declared["type"]?.text {
        case "ListPartitionRouter":
            var values: [String] = []
            if let list = declared["values"]?.list {
                values = list.map(\.shown)
            } else if let text = declared["values"]?.text {
                values = (try TemplateText(text).value(in: scope).list ?? []).map(\.shown)
            }
            let field = try TemplateText(declared["cursor_field"]?.shown ?? "").text(in: scope)
            self = .values(values, field: field, place: RequestPlace(declared["request_option"]))
        case "SubstreamPartitionRouter":
            var parents: [Parent] = []
            for parent in declared["parent_stream_configs"]?.list ?? [] {
                guard let stream = parent["stream"]?["name"]?.text else {
                    throw TemplateParser.Failure(description: "a parent without a name")
                }
                parents.append(
                    Parent(
                        stream: stream, key: try TemplateText(parent["parent_key"]?.shown ?? "").text(in: scope),
                        field: try TemplateText(parent["partition_field"]?.shown ?? "").text(in: scope),
                        place: RequestPlace(parent["request_option"]),
                        extra: (parent["extra_fields"]?.list ?? []).map { ($0.list ?? []).map(\.shown) }))
            }
            self = .parents(parents)
        default: throw TemplateParser.Failure(description: "parts by \(declared["type"]?.shown ?? "nothing")")
        }
    }
}
