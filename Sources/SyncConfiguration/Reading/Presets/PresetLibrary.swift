/// Where presets are looked for, and which there are.
public struct PresetLibrary: Sendable {
    /// Where the package puts its own.
    public static let installed = "/usr/share/cistern/presets"

    /// In the order in which they are looked through; the first file of a name counts.
    public let directories: [String]
    /// Where the files come from.
    private let files: any ConfigurationFiles

    /// Presets of these directories. Nothing is read before it is asked for.
    public init(directories: [String], files: any ConfigurationFiles = DiskConfigurationFiles()) {
        self.directories = directories
        self.files = files
    }

    /// The names of all that there are, sorted. A directory that is not there, or cannot be read, has none.
    public var names: [String] { paths.keys.sorted() }

    /// The path of each file by the preset's name.
    private var paths: [String: String] {
        var paths: [String: String] = [:]
        for directory in directories {
            for file in (try? files.names(in: directory)) ?? [] where file.hasSuffix(".toml") && !file.hasPrefix(".") {
                let name = String(file.dropLast(5))
                if paths[name] == nil { paths[name] = "\(directory)/\(file)" }
            }
        }
        return paths
    }

    /// A preset.
    /// - Throws: ``ConfigurationError`` with all that is wrong with its file, or that there is none.
    public func preset(named name: String) throws(ConfigurationError) -> Preset {
        let complaints = Complaints(mainFile: directories.first ?? Self.installed)
        guard let found = file(named: name, rank: 0, at: nil, .root, complaints), complaints.errorCount == 0 else {
            throw ConfigurationError(problems: complaints.sorted(files: []))
        }
        return found.preset
    }

    /// The file of a preset. Mistakes go to the complaints.
    ///
    /// - Parameter place: where it is named; nil: in no file.
    func file(named name: String, rank: Int, at place: DocumentNode.Place?, _ subject: Subject, _ complaints: Complaints) -> PresetFile? {
        let paths = paths
        guard let path = paths[name] else {
            complaints.add(
                at: place, subject, "there is no preset \"\(name)\"",
                paths.isEmpty
                    ? "none is in \(directories.joined(separator: " or "))" : suggestion(for: name, among: paths.keys.sorted(), kind: "known presets")
            )
            return nil
        }
        let bytes: [UInt8]
        do {
            bytes = try files.contents(of: path)
        } catch {
            complaints.add(ConfigurationProblem(file: path, message: "the file cannot be read: \(error)", suggestion: "check its owner and mode"))
            return nil
        }
        return PresetFile(name, at: path, bytes, rank: rank, complaints)
    }
}
