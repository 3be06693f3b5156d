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
