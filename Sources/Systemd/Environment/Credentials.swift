import Foundation
import Glibc

/// The secrets that the service manager passed.
///
/// `{credential = "ID"}` of a configuration is looked up as `ID` (a `LoadCredential=` of its own), `cred_ID` (a file of the
/// directory that the unit passes as a whole), then `cistern.ID` (`ImportCredential=`).
public struct Credentials: Sendable {
    /// What a value must look like.
    public enum Form: Sendable {
        /// One line of printable text: tokens, passwords, everything that ends up in a header.
        case line
        /// Text of several lines, such as a key in PEM form: line breaks and tabs are allowed too.
        case lines
    }

    /// Largest value in bytes, without the newline at its end.
    public static let largest = 65_536

    /// `$CREDENTIALS_DIRECTORY`; nil if there is none.
    public let directory: String?

    public init(directory: String?) {
        self.directory = directory
    }

    /// The value of one credential. One newline at its end is taken off.
    ///
    /// - Throws: `CredentialError`
    public func secret(_ name: String, form: Form = .line) throws(CredentialError) -> Secret {
        let path = try path(of: name)
        return try Self.read(path, name: name, form: form)
    }

    /// The file that holds the credential.
    ///
    /// - Throws: `CredentialError.invalidName`, `CredentialError.missing`
    public func path(of name: String) throws(CredentialError) -> String {
        guard Self.isValid(name) else { throw .invalidName(name) }
        guard let directory else { throw .missing(name: name, searched: []) }
        let candidates = [name, "cred_\(name)", "cistern.\(name)"].map { "\(directory)/\($0)" }
        guard let path = candidates.first(where: { access($0, F_OK) == 0 }) else { throw .missing(name: name, searched: candidates) }
        return path
    }

    /// Reads a secret from any file, by the same rules.
    ///
    /// - Parameter name: for messages.
    /// - Throws: `CredentialError`
    public static func read(_ path: String, name: String, form: Form = .line) throws(CredentialError) -> Secret {
        var content = [UInt8](repeating: 0, count: largest + 2)
        defer { content.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) } }
        let read = fill(&content, from: path)
        if read.code != 0 { throw .unreadable(name: name, path: path, reason: String(cString: strerror(read.code))) }
        var value = content[..<read.count]
        if value.last == UInt8(ascii: "\n") { value.removeLast() }
        if value.count > largest { throw .tooLarge(name: name, path: path, limit: largest) }
        if value.isEmpty { throw .empty(name: name, path: path) }
        if let offset = firstUnprintable(value, form) { throw .notText(name: name, path: path, offset: offset) }
        return Secret(value)
    }

    private static func isValid(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
                || [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
        }
        return isPlain && !name.isEmpty && name.utf8.count <= 240 && name != "." && name != ".."
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

    private static func firstUnprintable(_ value: ArraySlice<UInt8>, _ form: Form) -> Int? {
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
