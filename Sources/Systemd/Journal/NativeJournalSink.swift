import CSystemd
import Foundation
import Glibc

/// The journal's own protocol, by `sd_journal_sendv(3)`: every field arrives as it is, whatever its size.
///
/// The call returns success when there is no journal at all, so `JournalTarget` decides beforehand whether there is one.
public struct NativeJournalSink: JournalSink {
    public typealias Send = @Sendable ([UnsafeRawBufferPointer]) -> Int32

    private let identifier: String
    private let send: Send

    /// - Parameters:
    ///   - identifier: `SYSLOG_IDENTIFIER`
    ///   - send: takes the fields of one entry, each as `NAME=value`, and returns 0 or a negative `errno`.
    public init(identifier: String, send: @escaping Send = sendToJournal) {
        self.identifier = identifier
        self.send = send
    }

    /// The journal of this machine.
    @Sendable public static func sendToJournal(_ fields: [UnsafeRawBufferPointer]) -> Int32 {
        let vectors = fields.map { iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count) }
        return vectors.withUnsafeBufferPointer { sd_journal_sendv($0.baseAddress, Int32($0.count)) }
    }

    /// - Throws: `POSIXError` if the journal refuses the entry.
    public func write(_ entry: JournalEntry) throws {
        var bytes: [UInt8] = []
        let ends = entry.allFields(identifier: identifier).map { field in
            bytes.append(contentsOf: field.name.utf8)
            bytes.append(UInt8(ascii: "="))
            bytes.append(contentsOf: field.value.utf8)
            return bytes.count
        }
        let result = bytes.withUnsafeBytes { buffer in
            send(zip([0] + ends, ends).map { UnsafeRawBufferPointer(rebasing: buffer[$0..<$1]) })
        }
        if result < 0 { throw POSIXError(POSIXErrorCode(rawValue: -result) ?? .EIO) }
    }
}
