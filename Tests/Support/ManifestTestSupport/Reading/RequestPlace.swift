/// Where in a request something goes.
enum RequestPlace: Sendable, Hashable {
    case query(String)
    /// In lower case.
    case header(String)
    /// In the body, which is JSON.
    case json([String])
    /// In the body, which is a form.
    case form(String)
    /// It is the address.
    case path

    /// What a `RequestOption` or a `RequestPath` says.
    init?(_ option: DataValue?) {
        guard let option else { return nil }
        if option["type"]?.text == "RequestPath" {
            self = .path
            return
        }
        let name = option["field_name"]?.text ?? ""
        switch option["inject_into"]?.text {
        case "request_parameter": self = .query(name)
        case "header": self = .header(name.lowercased())
        case "body_json": self = .json(option["field_path"]?.list.map { $0.map(\.shown) } ?? [name])
        case "body_data": self = .form(name)
        case "path": self = .path
        default: return nil
        }
    }
}
