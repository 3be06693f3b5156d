import Glibc

/// Bytes that must not be seen: kept out of swap where the system allows it, overwritten when the last owner releases them, and without a
/// description, so that no log or error can show them by accident.
public final class Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    // Written once in `init`, before anyone else has a reference, and only read until `deinit`.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    /// Copies the bytes into pages of its own. The caller's copy remains, and is the caller's to overwrite.
    public init(_ content: some Collection<UInt8>) {
        bytes = Self.pages(content.count)
        bytes.copyBytes(from: content)
        count = content.count
    }

    /// A secret that is created in place, so that no other copy of it exists.
    ///
    /// - Parameters:
    ///   - capacity: how many bytes there is room for.
    ///   - fill: writes the bytes, and returns how many it wrote.
    public init(capacity: Int, filledBy fill: (UnsafeMutableRawBufferPointer) -> Int) {
        bytes = Self.pages(capacity)
        count = fill(UnsafeMutableRawBufferPointer(rebasing: bytes[..<max(capacity, 1)]))
        precondition(count <= capacity, "Secret: more bytes than there is room for")
    }

    /// Its own pages, zeroed: whole pages are locked and unlocked, so secrets that share one would be unlocked together.
    private static func pages(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let page = Int(getpagesize())
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max((count + page - 1) / page, 1) * page, alignment: page)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        // Best effort: LimitMEMLOCK= may be too low. Core dumps are off in the unit.
        mlock(bytes.baseAddress!, bytes.count)
        return bytes
    }

    deinit {
        explicit_bzero(bytes.baseAddress!, bytes.count)
        munlock(bytes.baseAddress!, bytes.count)
        bytes.deallocate()
    }

    /// Length in bytes.
    public let count: Int

    /// The bytes, for the length of the call.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }

    /// A copy as text, for the moment in which a request is made. It is not overwritten afterwards; do not keep it.
    public func revealed() -> String {
        withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Always `<secret>`, so that interpolation shows nothing.
    public var description: String { "<secret>" }
    /// Always `<secret>`, for `String(reflecting:)` and debuggers as well.
    public var debugDescription: String { "<secret>" }
    /// Without children: reflection finds no bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a secret must look like.
public enum SecretForm: Sendable {
    /// One line of printable text: tokens, passwords, everything that ends up in a header.
    case line
    /// Text of several lines, such as a key in PEM form: line breaks and tabs are allowed too.
    case lines
}
