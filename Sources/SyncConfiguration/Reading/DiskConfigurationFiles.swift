import Foundation

/// Files on disk.
public struct DiskConfigurationFiles: ConfigurationFiles {
    public init() {}

    /// At most one byte more than a configuration file may have, so that a wrong path to something huge costs nothing.
    public func contents(of path: String) throws -> [UInt8] {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw ConfigurationFileError("it is a directory")
        }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw ConfigurationFileError(String(cString: strerror(errno)))
        }
        defer { try? handle.close() }
        return Array(try handle.read(upToCount: ConfigurationReader.maxFileSize.bytes + 1) ?? Data())
    }

    public func names(in directory: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw ConfigurationFileError((error as NSError).localizedDescription)
        }
    }
}
