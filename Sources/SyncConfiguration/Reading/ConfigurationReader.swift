/// Reads the configuration: the main file and the drop-ins beside it, merged in the order of their names.
///
/// Every complaint of one pass is collected; nothing is guessed and nothing ignored. The reader looks at nothing but the files and the
/// environment it is given.
public struct ConfigurationReader: Sendable {
    /// A configuration file larger than this is a mistake.
    public static let maxFileSize = ByteCount.mebibytes(4)

    /// The main file.
    public var path: String
    /// Looked at for `STATE_DIRECTORY` and `RUNTIME_DIRECTORY` only; without them the paths of the packaged service are used.
    public var environment: [String: String]
    public var files: any ConfigurationFiles

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

    /// Reads and checks everything.
    public func read() -> ConfigurationReading {
        let complaints = Complaints(mainFile: path)
        let paths = [path] + dropIns(complaints)
        let documents = paths.enumerated().compactMap { rank, path in document(path, rank: rank, complaints) }
        var configuration: CisternConfiguration?
        var resolved: ResolvedConfiguration?
        if documents.count == paths.count {
            var assembly = Assembly(document: DocumentNode.merged(documents), environment: environment, files: files, complaints: complaints)
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
