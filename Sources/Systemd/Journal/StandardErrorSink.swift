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
                    // Someone who shares the descriptor made it non-blocking.
                    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&request, 1, -1)
                } else if errno != EINTR {
                    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
                }
            }
        }
    }
}
