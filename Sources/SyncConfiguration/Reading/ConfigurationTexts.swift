/// Files in memory: paths and their texts.
public struct ConfigurationTexts: ConfigurationFiles, ExpressibleByDictionaryLiteral {
    public var files: [String: [UInt8]]

    public init(_ texts: [String: String]) {
        self.files = texts.mapValues { Array($0.utf8) }
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(Dictionary(elements) { $1 })
    }

    public func contents(of path: String) throws -> [UInt8] {
        guard let bytes = files[path] else { throw ConfigurationFileError("no such file") }
        return bytes
    }

    public func names(in directory: String) throws -> [String] {
        let prefix = directory + "/"
        return files.keys.filter { $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains("/") }.map {
            String($0.dropFirst(prefix.count))
        }
    }
}
