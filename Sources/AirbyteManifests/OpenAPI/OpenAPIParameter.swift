/// A parameter of an operation.
struct OpenAPIParameter {
    let name: String
    /// `query`, `path`, `header` or `cookie`.
    let place: String
    let isRequired: Bool
    /// What it is if nothing is said, as a text; nil: that is not described.
    let defaultValue: String?
    let isNumber: Bool
    let minimum: Int?
    let maximum: Int?

    /// Those of an operation, and those of its path that it does not describe anew.
    static func all(of operation: ManifestMapping, path: ManifestMapping, in document: OpenAPIDocument) throws(Unsayable) -> [OpenAPIParameter] {
        var result: [OpenAPIParameter] = []
        for list in [path["parameters"]?.list ?? [], operation["parameters"]?.list ?? []] {
            for element in list {
                guard let parameter = try OpenAPIParameter(element, in: document) else { continue }
                result.removeAll { $0.name == parameter.name && $0.place == parameter.place }
                result.append(parameter)
            }
        }
        return result
    }

    private init?(_ value: ManifestValue, in document: OpenAPIDocument) throws(Unsayable) {
        guard let mapping = try document.resolved(value).value.mapping, let name = mapping["name"]?.scalar, let place = mapping["in"]?.text else {
            return nil
        }
        var schema = mapping
        if !document.isSwagger, let inner = mapping["schema"] { schema = try document.resolved(inner).value.mapping ?? mapping }
        self.name = name
        self.place = place
        isRequired = mapping["required"]?.isTruthy == true
        let values = schema["enum"]?.list ?? []
        let said = schema["default"] ?? schema["const"] ?? (values.count == 1 ? values[0] : nil)
        if let said, case .bool(let flag) = said.content { defaultValue = flag ? "true" : "false" } else { defaultValue = said?.scalar }
        let types = (schema["type"]?.list ?? [schema["type"]].compactMap { $0 }).compactMap(\.text)
        isNumber = types.contains("integer") || types.contains("number")
        minimum = schema["minimum"]?.integer
        maximum = schema["maximum"]?.integer
    }
}
