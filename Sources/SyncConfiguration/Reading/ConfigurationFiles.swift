/// Where the reader gets its files from.
public protocol ConfigurationFiles: Sendable {
    /// The bytes of a file.
    /// - Throws: any error; its description ends up in the complaint.
    func contents(of path: String) throws -> [UInt8]

    /// The names of the files in a directory, in any order; none when there is no such directory.
    /// - Throws: any error but the directory's absence.
    func names(in directory: String) throws -> [String]

    /// Whether a file may be read by every user of the machine; false where that cannot be told.
    func canEverybodyRead(_ path: String) -> Bool
}

extension ConfigurationFiles {
    public func canEverybodyRead(_ path: String) -> Bool { false }
}
