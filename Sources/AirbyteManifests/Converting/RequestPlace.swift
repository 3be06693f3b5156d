/// Where something goes into a request.
struct RequestPlace {
    enum Kind {
        case query, header, json, form
        /// It is the address itself.
        case path
    }

    let kind: Kind
    /// The name, or those that lead to it in a JSON body.
    let names: [String]

    /// As `param` of `pages` says it: a name, or a JSON Pointer.
    var parameter: String {
        names.count == 1
            ? names[0] : "/" + names.map { $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined(separator: "/")
    }

    /// As `in` of `pages` says it; nil: as it is anyway.
    var word: String? {
        switch kind {
        case .query, .path: nil
        case .header: "header"
        case .json, .form: "body"
        }
    }
}

extension StreamConverter {
    /// Reads a RequestOption, or a RequestPath.
    func requestPlace(_ option: Component) throws -> RequestPlace {
        if option.type == "RequestPath" { return RequestPlace(kind: .path, names: []) }
        expect(option, handled: ["inject_into", "field_name", "field_path"])
        guard let target = try option.value("inject_into")?.text else { throw Unsayable("inject_into is missing") }
        if target == "path" { return RequestPlace(kind: .path, names: []) }
        guard let value = try option.value("field_path") ?? option.value("field_name") else { throw Unsayable("field_name is missing") }
        let names = try names(value, in: option)
        guard !names.isEmpty, !names.contains("") else { throw Unsayable("field_name is empty") }
        let kind: RequestPlace.Kind
        switch target {
        case "request_parameter": kind = .query
        case "header": kind = .header
        case "body_json": kind = .json
        case "body_data": kind = .form
        default: throw Unsayable("inject_into: \(target) is not known here")
        }
        guard names.count == 1 || kind == .json else { throw Unsayable("only a JSON body has places inside of others") }
        return RequestPlace(kind: kind, names: names)
    }

    /// Puts a value into requests.
    /// - Throws: `Unsayable` if there is something already.
    func insert(_ value: TOMLValue, at place: RequestPlace) throws {
        let name = place.names.joined(separator: ".")
        var isNew = true
        switch place.kind {
        case .query: isNew = draft.parameters.insert(value, at: place.names)
        case .header: isNew = draft.headers.insert(Self.headerText(value), at: place.names)
        case .path: throw Unsayable("it cannot become a part of the address")
        case .json: isNew = try insertJSON(value, at: place.names)
        case .form:
            var fields = TOMLTable()
            switch draft.body {
            case .none: break
            case .form(let known): fields = known
            case .json, .graphQL: throw Unsayable("the body is no form")
            }
            isNew = fields.insert(value, at: place.names)
            draft.body = .form(fields)
        }
        if !isNew { throw Unsayable("\(name) is said twice") }
    }

    private func insertJSON(_ value: TOMLValue, at names: [String]) throws -> Bool {
        var members = TOMLTable(), isNew = true
        switch draft.body {
        case .none: break
        case .json(let known): members = known
        case .form: throw Unsayable("the body is a form")
        case .graphQL(let query, var variables):
            guard names.count > 1, names[0] == "variables" else { throw Unsayable("only variables can be put into a query") }
            isNew = variables.insert(value, at: Array(names.dropFirst()))
            draft.body = .graphQL(query: query, variables: variables)
            return isNew
        }
        isNew = members.insert(value, at: names)
        draft.body = .json(members)
        return isNew
    }

    /// Makes sure that there is a body for what pages put into it.
    func needBody(_ kind: RequestPlace.Kind) throws {
        switch (kind, draft.body) {
        case (.json, .none): draft.body = .json(TOMLTable())
        case (.form, .none): draft.body = .form(TOMLTable())
        case (.json, .form), (.form, .json), (.form, .graphQL): throw Unsayable("the body is of another kind")
        default: break
        }
    }

    private static func headerText(_ value: TOMLValue) -> TOMLValue {
        switch value {
        case .integer(let number): .text("\(number)")
        default: value
        }
    }
}
