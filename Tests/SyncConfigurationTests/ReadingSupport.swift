import Testing

@testable import SyncConfiguration

/// Reads a configuration from texts: the main file is `/c/cisternd.toml`, drop-ins stand in `/c/conf.d`.
func read(_ text: String, dropIns: [String: String] = [:], environment: [String: String] = [:]) -> ConfigurationReading {
    var files = ConfigurationTexts(["/c/cisternd.toml": text])
    for (name, text) in dropIns { files.files["/c/conf.d/\(name)"] = Array(text.utf8) }
    return ConfigurationReader(path: "/c/cisternd.toml", environment: environment, files: files).read()
}

/// The configuration of a text that must be free of errors.
func configuration(_ text: String, dropIns: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation) throws
    -> CisternConfiguration
{
    let reading = read(text, dropIns: dropIns)
    #expect(reading.errors.map(\.description) == [], sourceLocation: sourceLocation)
    return try #require(reading.configuration, sourceLocation: sourceLocation)
}

/// The lines of the errors of a text.
func errors(_ text: String, dropIns: [String: String] = [:]) -> [String] {
    read(text, dropIns: dropIns).errors.map(\.description)
}

/// A model with one entity, for texts about sources.
let itemModel = """
    [entity.Item.attributes]
    id = { type = "int64" }
    code = { type = "string" }

    """

/// A source about that entity. A text about it follows.
let itemSource =
    itemModel + """
        [[source]]
        name = "items"
        url = "https://api.example.com/items"
        entity = "Item"

        """

/// A suite that reads models of Xcode's editor.
protocol ModelFileReading {}

extension ModelFileReading {
    /// A configuration beside a model of these elements, in `/c/Model.xcdatamodel`.
    func reading(_ elements: String, _ text: String = "") -> ConfigurationReading {
        let files = ConfigurationTexts([
            "/c/cisternd.toml": "[model]\nfile = \"Model.xcdatamodel\"\n\(text)",
            "/c/Model.xcdatamodel/contents": "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>\n\(elements)\n</model>",
        ])
        return ConfigurationReader(path: "/c/cisternd.toml", files: files).read()
    }

    func model(_ elements: String, _ text: String = "", sourceLocation: SourceLocation = #_sourceLocation) throws -> ModelConfiguration {
        let reading = reading(elements, text)
        #expect(reading.errors.map(\.description) == [], sourceLocation: sourceLocation)
        return try #require(reading.configuration, sourceLocation: sourceLocation).model
    }

    func attribute(_ words: String, _ userInfo: [String: String] = [:], name: String = "x") -> String {
        let entries = userInfo.sorted { $0.key < $1.key }.map { "<entry key=\"\($0.key)\" value=\"\($0.value)\"/>" }.joined()
        return "<attribute name=\"\(name)\" \(words)><userInfo>\(entries)</userInfo></attribute>"
    }

    func entity(_ contents: String, name: String = "A", _ words: String = "") -> String {
        "<entity name=\"\(name)\" \(words)>\(attribute("attributeType=\"Integer 64\"", name: "id"))\(contents)</entity>"
    }
}
