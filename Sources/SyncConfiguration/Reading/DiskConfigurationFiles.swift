import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Files on disk.
public struct DiskConfigurationFiles: ConfigurationFiles {
    /// A view of the disk with the permissions of this process; it keeps nothing open.
    public init() {}

    /// At most one byte more than a configuration file may have, so that a wrong path to something huge costs nothing.
    public func contents(of path: String) throws -> [UInt8] {
        // Without O_NONBLOCK, opening a named pipe waits for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw ConfigurationFileError(String(cString: strerror(errno))) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        defer { try? handle.close() }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw ConfigurationFileError(String(cString: strerror(errno))) }
        switch information.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw ConfigurationFileError("it is a directory")
        default: throw ConfigurationFileError("it is not a regular file")
        }
        return Array(try handle.read(upToCount: ConfigurationReader.maxFileSize.bytes + 1) ?? Data())
    }

    /// Whether the mode grants reading to others (`o+r`); symbolic links are followed. False if the file cannot be looked at.
    public func canEverybodyRead(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IROTH != 0
    }

    /// All entries of the directory, hidden ones included. Throws ``ConfigurationFileError`` when it exists but cannot be listed.
    public func names(in directory: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw ConfigurationFileError((error as NSError).localizedDescription)
        }
    }
}
