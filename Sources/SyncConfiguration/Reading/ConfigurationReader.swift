import ModelFiles

/// Reads the configuration: the main file and the drop-ins beside it, merged in the order of their names.
///
/// It collects every complaint in one pass; it guesses nothing and ignores nothing. It looks only at the files and the environment it is given.
public struct ConfigurationReader: Sendable {
    /// A configuration file larger than this is a mistake.
    public static let maxFileSize = ByteCount.mebibytes(4)

    /// The main file.
    public var path: String
    /// Looked at for `STATE_DIRECTORY` and `RUNTIME_DIRECTORY`, without which the paths of the packaged service are used, and for `CISTERN_PRESETS`.
    public var environment: [String: String]
    /// Where the main file and the drop-ins come from; default: the disk.
    public var files: any ConfigurationFiles

    /// A reader of the installed files on disk, unless said otherwise. Nothing is read before ``read()``.
    public init(
        path: String = "/etc/cistern/cisternd.toml", environment: [String: String] = [:],
        files: any ConfigurationFiles = DiskConfigurationFiles()
    ) {
        self.path = path
        self.environment = environment
        self.files = files
    }

    /// The directory of the drop-ins: `conf.d` beside `cisternd.toml`; `NAME.conf.d` beside `NAME.toml`, so that instances which share a
    /// directory do not share their drop-ins.
    public var dropInDirectory: String {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let file = path[start...], name = file.hasSuffix(".toml") ? file.dropLast(5) : file
        return path[..<start] + (name == "cisternd" ? "conf.d" : "\(name).conf.d")
    }

    /// Where presets are looked for: in `presets` beside the main file, in the directories that `CISTERN_PRESETS` names, divided by colons, and where the
    /// package has them.
    public var presets: PresetLibrary {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let named = (environment["CISTERN_PRESETS"] ?? "").split(separator: ":").map(String.init)
        return PresetLibrary(directories: ["\(directory)presets"] + named + [PresetLibrary.installed], files: files)
    }

    /// Reads and checks everything.
    public func read() -> ConfigurationReading {
        let complaints = Complaints(mainFile: path)
        var paths = [path] + dropIns(complaints)
        let documents = paths.enumerated().compactMap { rank, path in document(path, rank: rank, complaints) }
        var configuration: CisternConfiguration?
        var resolved: ResolvedConfiguration?
        if documents.count == paths.count {
            var presets = PresetExpansion(presets, complaints)
            var document = presets.expand(DocumentNode.merged(documents.map(PresetExpansion.named)))
            paths += presets.paths
            // Whatever the files say comes after presets and the model.
            var layers = presets.entities(for: document).map { [$0] } ?? []
            if let model = modelFile(document, complaints) {
                let tables = document.table?["entity"]?.table ?? [:]
                layers.append(ModelDocument(model, rank: -1, tables: tables, complaints: complaints).document())
                paths.append(model.path)
            }
            if !layers.isEmpty { document = DocumentNode.merged(layers + [document]) }
            var assembly = Assembly(document: document, environment: environment, files: files, complaints: complaints)
            configuration = assembly.assemble()
            resolved = assembly.resolved
        }
        let problems = complaints.sorted(files: paths)
        let isUsable = complaints.errorCount == 0
        return ConfigurationReading(
            configuration: isUsable ? configuration : nil, problems: problems, errorCount: complaints.errorCount,
            warningCount: complaints.warningCount, files: paths, resolved: isUsable ? resolved : nil)
    }

    /// Reads and checks everything.
    /// - Throws: ``ConfigurationError`` with all problems if one of them is an error.
    public func configuration() throws(ConfigurationError) -> CisternConfiguration {
        let reading = read()
        guard let configuration = reading.configuration else { throw ConfigurationError(problems: reading.problems) }
        return configuration
    }

    /// What `[model] file` names: relative to the main file's directory.
    private func modelFile(_ document: DocumentNode, _ complaints: Complaints) -> ModelFile? {
        guard let node = document.table?["model"]?.table?["file"], case .value(let name) = ModelConfiguration.fileName.read(node), !name.isEmpty
        else {
            return nil
        }
        let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        do throws(ModelFileError) {
            return try ModelPackage(name.hasPrefix("/") ? name : directory + name, in: files.modelFolders).current()
        } catch {
            complaints.add(ConfigurationProblem(error, namedAt: node.place))
            return nil
        }
    }

    private func dropIns(_ complaints: Complaints) -> [String] {
        let directory = dropInDirectory
        do {
            return try files.names(in: directory).filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted().map {
                directory + "/" + $0
            }
        } catch {
            complaints.add(
                ConfigurationProblem(
                    file: directory, message: "the directory cannot be read: \(error)", suggestion: "check its owner and mode, or remove it"
                ))
            return []
        }
    }

    private func document(_ path: String, rank: Int, _ complaints: Complaints) -> DocumentNode? {
        let bytes: [UInt8]
        do {
            bytes = try files.contents(of: path)
        } catch {
            complaints.add(
                ConfigurationProblem(
                    file: path, message: "the file cannot be read: \(error)",
                    suggestion: rank == 0 ? "check the path, owner and mode; --config names another file" : "check its owner and mode"))
            return nil
        }
        do throws(ConfigurationError) {
            return try DocumentParser(file: path, rank: rank).parse(bytes)
        } catch {
            for problem in error.problems { complaints.add(problem) }
            return nil
        }
    }
}

/// The result of one reading.
public struct ConfigurationReading: Sendable {
    /// `nil` exactly when there are ``errors``.
    public let configuration: CisternConfiguration?
    /// Errors and warnings, in the order of files and lines: at most a hundred of each. Where there are more, the last problem says how many.
    public let problems: [ConfigurationProblem]
    /// How many errors there are, listed or not.
    public let errorCount: Int
    /// How many warnings there are, listed or not.
    public let warningCount: Int
    /// The files that were read, in the order they were merged.
    public let files: [String]
    /// Every setting with the place it comes from; `nil` exactly when there are ``errors``.
    public let resolved: ResolvedConfiguration?

    /// The errors among ``problems``; at most a hundred are listed, ``errorCount`` counts all.
    public var errors: [ConfigurationProblem] { problems.filter { $0.severity == .error } }
    /// The warnings among ``problems``; at most a hundred are listed, ``warningCount`` counts all.
    public var warnings: [ConfigurationProblem] { problems.filter { $0.severity == .warning } }
}

/// Files in memory: paths and their texts.
public struct ConfigurationTexts: ConfigurationFiles, ExpressibleByDictionaryLiteral {
    /// The bytes of each file, by its full path.
    public var files: [String: [UInt8]]

    /// Files by their full paths, with their texts as UTF-8.
    public init(_ texts: [String: String]) {
        self.files = texts.mapValues { Array($0.utf8) }
    }

    /// Paths and texts as a literal; for a path that appears twice, the last text counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(Dictionary(elements) { $1 })
    }

    /// The bytes under exactly this path. Throws ``ConfigurationFileError`` when there are none.
    public func contents(of path: String) throws -> [UInt8] {
        guard let bytes = files[path] else { throw ConfigurationFileError("no such file") }
        return bytes
    }

    /// The files directly below the directory, without those of its subdirectories; none if no path begins with it. Never throws.
    public func names(in directory: String) throws -> [String] {
        let prefix = directory + "/"
        return files.keys.filter { $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains("/") }.map {
            String($0.dropFirst(prefix.count))
        }
    }
}

/// Where the reader gets its files from.
public protocol ConfigurationFiles: Sendable {
    /// The bytes of a file.
    /// - Throws: any error; its description ends up in the complaint.
    func contents(of path: String) throws -> [UInt8]

    /// The names of the files in a directory, in any order; none when there is no such directory.
    /// - Throws: any error but the directory's absence.
    func names(in directory: String) throws -> [String]

    /// Whether every user of the machine may read a file; false if that is unknown.
    func canEverybodyRead(_ path: String) -> Bool
}

extension ConfigurationFiles {
    /// False, for files that have no mode, such as those in memory.
    public func canEverybodyRead(_ path: String) -> Bool { false }
}
