/// A stream as its manifest declares it.
struct DeclaredStream: Sendable {
    var name: String
    var method: String
    /// A template, base and path.
    var address: TemplateText
    /// Their values are templates.
    var parameters: [DataValue.Member]
    var headers: [DataValue.Member]
    /// The leaves are templates.
    var json: DataValue?
    var form: [DataValue.Member]
    var authenticator: DataValue?
    var pages: DeclaredPages
    /// Whether a template of its requests says which page is meant.
    var saysPage: Bool
    var cursor: DeclaredCursor?
    var routers: [DeclaredRouter]
    var fieldPath: [String]
    var condition: TemplateText?
    var transformations: [DataValue]
    var primaryKey: [String]
    /// The properties of its records; nil where the manifest does not say.
    var properties: [DataValue.Member]?

    /// What is understood here. Anything else, code above all, makes a stream one of which nothing is known.
    private static let understood: Set<String> = [
        "DeclarativeStream", "SimpleRetriever", "HttpRequester", "RecordSelector", "DpathExtractor", "RecordFilter", "DefaultPaginator",
        "NoPagination",
        "PageIncrement", "OffsetIncrement", "CursorPagination", "RequestOption", "RequestPath", "DatetimeBasedCursor", "MinMaxDatetime",
        "SubstreamPartitionRouter", "ParentStreamConfig", "ListPartitionRouter", "InlineSchemaLoader", "JsonDecoder", "NoAuth", "ApiKeyAuthenticator",
        "BearerAuthenticator", "BasicHttpAuthenticator", "OAuthAuthenticator", "SelectiveAuthenticator", "SessionTokenAuthenticator",
        "ApiKey", "Bearer", "RequestBodyJsonObject", "RequestBodyUrlEncodedForm", "AddFields", "RemoveFields", "AddedFieldDefinition",
    ]
    /// Members that say nothing of what a service answers when all is well: transformations and error handlers may be code.
    private static let passedOver: Set<String> = [
        "schema", "schema_loader", "error_handler", "transformations", "state_migrations", "stream", "authenticators", "request_parameters",
        "request_headers",
        "request_body_json", "request_body_data", "refresh_request_body", "refresh_request_headers", "value",
    ]

    /// - Throws: `TemplateParser.Failure` where it is more than is understood.
    init(_ declared: DataValue, _ scope: TemplateScope) throws {
        if let foreign = Self.foreignType(in: declared) { throw TemplateParser.Failure(description: "\(foreign) is not part of the language") }
        let retriever = declared["retriever"] ?? .null
        let requester = retriever["requester"] ?? .null
        name = declared["name"]?.text ?? ""
        method = requester["http_method"]?.text ?? "GET"
        address = try TemplateText(Self.address(requester))
        parameters = (requester["request_parameters"]?.members ?? []).filter { !$0.value.isNull }
        headers = (requester["request_headers"]?.members ?? []).filter { !$0.value.isNull }
        (json, form) = Self.body(requester)
        let authenticator = requester["authenticator"] ?? .null
        self.authenticator = authenticator.isNull ? nil : authenticator
        let texts = [requester["request_parameters"], requester["request_headers"], json].compactMap { $0?.json }
        saysPage = texts.contains { $0.contains("next_page_token") }
        pages = try DeclaredPages(retriever["paginator"], scope)
        cursor = try DeclaredCursor(declared["incremental_sync"], scope)
        let router = retriever["partition_router"] ?? .null
        routers = try (router.list ?? (router.isNull ? [] : [router])).map { try DeclaredRouter($0, scope) }
        let selector = retriever["record_selector"] ?? .null
        fieldPath = (selector["extractor"]?["field_path"]?.list ?? []).map(\.shown)
        condition = try selector["record_filter"]?["condition"]?.text.map { try TemplateText($0) }
        transformations = declared["transformations"]?.list ?? []
        primaryKey = Self.names(declared["primary_key"] ?? .null)
        properties = declared["schema_loader"]?["schema"]?["properties"]?.members
    }

    /// What a requester sends: JSON, or the fields of a form.
    static func body(_ requester: DataValue) -> (json: DataValue?, form: [DataValue.Member]) {
        let body = requester["request_body"] ?? .null
        var json = requester["request_body_json"], form = requester["request_body_data"]?.members ?? []
        if body["type"]?.text == "RequestBodyJsonObject" { json = body["value"] }
        if body["type"]?.text == "RequestBodyUrlEncodedForm" { form = body["value"]?.members ?? [] }
        if json?.members?.isEmpty == true { json = nil }
        return (json, form)
    }

    /// One name, or several.
    private static func names(_ value: DataValue) -> [String] {
        if let list = value.list { return list.map(\.shown) }
        guard let text = value.text, !text.isEmpty else { return [] }
        return [text]
    }

    static func address(_ requester: DataValue) -> String {
        if let whole = requester["url"]?.text { return whole }
        let base = requester["url_base"]?.text ?? "", path = requester["path"]?.text ?? ""
        if path.isEmpty { return base }
        let start = base.hasSuffix("/") ? String(base.dropLast()) : base
        return start + "/" + (path.hasPrefix("/") ? String(path.dropFirst()) : path)
    }

    private static func foreignType(in value: DataValue) -> String? {
        switch value {
        case .object(let members):
            if let type = value["type"]?.text, !understood.contains(type) { return type }
            for member in members where !passedOver.contains(member.name) {
                if let found = foreignType(in: member.value) { return found }
            }
            return nil
        case .list(let list):
            for element in list {
                if let found = foreignType(in: element) { return found }
            }
            return nil
        default: return nil
        }
    }
}
