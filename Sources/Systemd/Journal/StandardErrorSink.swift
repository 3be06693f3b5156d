import CSystemd
import Foundation
import Glibc

/// Writes entries as lines to a descriptor: for a run outside of systemd, or in a container whose log is standard error.
public struct StandardErrorSink: JournalSink {
    private let descriptor: Int32
    private let format: JournalFormat
    private let identifier: String
    private let withPriority: Bool
    private let microsecondsSince1970: @Sendable () -> Int64

    /// - Parameters:
    ///   - withPriority: whether text lines begin with `<n>`; by default unless the descriptor is a terminal.
    ///   - microsecondsSince1970: the time of an entry in JSON.
    public init(
        descriptor: Int32 = STDERR_FILENO, format: JournalFormat = .text, identifier: String, withPriority: Bool? = nil,
        microsecondsSince1970: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000_000) }
    ) {
        self.descriptor = descriptor
        self.format = format
        self.identifier = identifier
        self.withPriority = withPriority ?? (isatty(descriptor) == 0)
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// - Throws: `POSIXError` if the line could not be written to its end.
    public func write(_ entry: JournalEntry) throws {
        switch format {
        case .text: try write(text(entry))
        case .json: try write(json(entry))
        }
    }

    /// Every line of a message with several carries the priority: the manager reads each as an entry of its own.
    /// (A line feed after a carriage return is one `Character` with it.)
    private func text(_ entry: JournalEntry) -> String {
        let prefix = withPriority ? "<\(entry.priority.rawValue)>" : ""
        return entry.message.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { "\(prefix)\($0)\n" }.joined()
    }

    private func json(_ entry: JournalEntry) -> String {
        var order: [String] = []
        var values: [String: [String]] = [:]
        for field in entry.allFields(identifier: identifier) {
            if values[field.name] == nil { order.append(field.name) }
            values[field.name, default: []].append(Self.quoted(field.value))
        }
        let members = order.map { name in
            let all = values[name] ?? []
            return "\"\(name)\":\(all.count == 1 ? all[0] : "[\(all.joined(separator: ","))]")"
        }
        return "{" + (["\"__REALTIME_TIMESTAMP\":\"\(microsecondsSince1970())\""] + members).joined(separator: ",") + "}\n"
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }

    private func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    // Another process that shares the descriptor made it non-blocking.
                    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&request, 1, -1)
                } else if errno != EINTR {
                    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
                }
            }
        }
    }
}

/// The journal's own protocol, by `sd_journal_sendv(3)`: every field arrives as it is, whatever its size.
///
/// The call returns success when there is no journal at all, so `JournalTarget` decides beforehand whether there is one.
public struct NativeJournalSink: JournalSink {
    /// Takes the fields of one entry, each as `NAME=value`, and returns 0 or a negative `errno`, like `sd_journal_sendv(3)`.
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

/// Takes entries to where they are kept. Called on the journal's queue only, one entry at a time; may block.
public protocol JournalSink: Sendable {
    /// - Throws: if this entry could not be written.
    func write(_ entry: JournalEntry) throws
}

/// Decides which of many equal messages get an entry: the 1st, 2nd, 4th, 8th … of each kind.
///
/// A value without a clock. The owner keeps one, asks before each entry, and resets a kind when the trouble is over.
public struct RepeatCollapser: Sendable {
    /// What to do about one message.
    public enum Decision: Sendable, Equatable {
        /// Write it; it is the `count`-th of its kind.
        case say(count: Int)
        /// Do not write it: neither the first of its kind nor at a power of two.
        case keepQuiet
    }

    private let capacity: Int
    private var counts: [String: (count: Int, lastSeen: Int)] = [:]
    private var clock = 0

    /// - Parameter capacity: how many kinds are told apart. Beyond it, the kind not seen for longest is forgotten and starts again.
    public init(capacity: Int = 256) {
        precondition(capacity > 0, "a collapser remembers at least one kind")
        self.capacity = capacity
    }

    /// - Parameter kind: equal for messages that say the same, such as "github/issues timeout".
    public mutating func record(_ kind: String) -> Decision {
        clock += 1
        let count = (counts[kind]?.count ?? 0) + 1
        if count == 1, counts.count == capacity, let oldest = counts.min(by: { $0.value.lastSeen < $1.value.lastSeen }) {
            counts[oldest.key] = nil
        }
        counts[kind] = (count, clock)
        return count & (count - 1) == 0 ? .say(count: count) : .keepQuiet
    }

    /// The trouble is over: the next one of this kind is a first one again. Returns how often it occurred.
    @discardableResult
    public mutating func reset(_ kind: String) -> Int {
        counts.removeValue(forKey: kind)?.count ?? 0
    }
}
