import Foundation
import Glibc
import SyncConfiguration

/// Reads the secrets that a configuration refers to: credentials of the service manager, files, environment variables.
///
/// Nothing is kept: each call looks again, so that a replaced secret is used next.
///
/// `{credential = "ID"}` of a configuration is looked up as `ID` (a `LoadCredential=` of its own), `cred_ID` (a file of the
/// directory that the unit passes as a whole), then `cistern.ID` (`ImportCredential=`).
public struct SecretReader: Sendable {
    /// Largest value in bytes, without the newline at its end.
    public static let largest = 65_536

    /// `$CREDENTIALS_DIRECTORY`; nil if there is none.
    public let directory: String?
    /// Where the files are that the service manager turns into credentials; nil for nowhere. A process outside the service gets no credentials, and
    /// looks there instead.
    public let sources: String?
    private let environment: [String: String]

    /// A reader for a process with this environment, which names the directory of its credentials.
    public init(environment: [String: String], sources: String? = nil) {
        self.environment = environment
        self.sources = sources
        directory = environment["CREDENTIALS_DIRECTORY"]
    }

    /// The secret that a reference stands for. One newline at its end is taken off.
    ///
    /// - Throws: `SecretError`
    public func secret(_ reference: SecretReference, form: SecretForm = .line) throws(SecretError) -> Secret {
        switch reference {
        case .credential(let name):
            return try read(SecretError.Place(reference, at: path(of: name)), form)
        case .file(let path):
            return try read(SecretError.Place(reference, at: path), form)
        case .environment(let name):
            guard let value = environment[name], !value.isEmpty else { throw .notSet(name) }
            // The environment itself keeps it for as long as the process lives, and shows it to others of the same user.
            var bytes = Array(value.utf8)
            defer { Self.wipe(&bytes) }
            return try Self.secret(bytes[...], SecretError.Place(reference), form)
        }
    }

    /// The file that holds the credential.
    ///
    /// - Throws: `SecretError.invalidName`, `SecretError.missing`
    public func path(of name: String) throws(SecretError) -> String {
        guard Self.isValid(name) else { throw .invalidName(name) }
        var candidates = directory.map { directory in [name, "cred_\(name)", "cistern.\(name)"].map { "\(directory)/\($0)" } } ?? []
        if let sources { candidates.append("\(sources)/\(name)") }
        guard let path = candidates.first(where: Self.isThere) else { throw .missing(name: name, searched: candidates) }
        return path
    }

    /// A file that may not even be looked for counts as present: reading it says why it is not available.
    private static func isThere(_ path: String) -> Bool {
        access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    private static func isValid(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
                || [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
        }
        return isPlain && !name.isEmpty && name.utf8.count <= 240 && name != "." && name != ".."
    }

    // MARK: Files

    private func read(_ place: SecretError.Place, _ form: SecretForm) throws(SecretError) -> Secret {
        var content = [UInt8](repeating: 0, count: Self.largest + 2)
        defer { Self.wipe(&content) }
        let read = Self.fill(&content, from: place.path ?? "")
        if read.code != 0 { throw .unreadable(place, reason: String(cString: strerror(read.code))) }
        return try Self.secret(content[..<read.count], place, form)
    }

    private static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
    }

    /// As much of the file as fits; `code` is 0 or an `errno`.
    private static func fill(_ buffer: inout [UInt8], from path: String) -> (count: Int, code: Int32) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { return (0, errno) }
        defer { close(descriptor) }
        return buffer.withUnsafeMutableBytes { bytes in
            var count = 0
            while count < bytes.count {
                let got = Glibc.read(descriptor, bytes.baseAddress! + count, bytes.count - count)
                if got == 0 { break }
                if got > 0 { count += got } else if errno != EINTR { return (count, errno) }
            }
            return (count, 0)
        }
    }

    // MARK: Values

    /// The bytes as a secret, if they are one of the form.
    private static func secret(_ bytes: ArraySlice<UInt8>, _ place: SecretError.Place, _ form: SecretForm) throws(SecretError) -> Secret {
        var value = bytes
        if value.last == UInt8(ascii: "\n") { value = value.dropLast() }
        if value.count > largest { throw .tooLarge(place, limit: largest) }
        if value.isEmpty { throw .empty(place) }
        if let offset = firstUnprintable(value, form) { throw .notText(place, offset: offset) }
        return Secret(value)
    }

    private static func firstUnprintable(_ value: ArraySlice<UInt8>, _ form: SecretForm) -> Int? {
        for (offset, byte) in value.enumerated() where byte < 0x20 || byte == 0x7F {
            let isLayout = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\t")
            if form == .line || !isLayout { return offset }
        }
        // Past ASCII it must be UTF-8 without the control characters of its second page.
        var decoder = UTF8()
        var bytes = value.makeIterator()
        var offset = 0
        while true {
            switch decoder.decode(&bytes) {
            case .scalarValue(let scalar):
                if (0x80..<0xA0).contains(scalar.value) { return offset }
                offset += UTF8.width(scalar)
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}
