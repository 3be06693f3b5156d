import Logging

/// swift-log's way into the journal.
///
/// A metadata key that is a field name already (`CISTERN_SOURCE`) becomes that field, others are adapted (`source` →
/// `CISTERN_SOURCE`). An array becomes one field per element, a dictionary one field per entry with the keys joined by `_`.
/// `MESSAGE_ID` is set by `Logger.log(_:_:metadata:)` and taken from metadata only if the catalogue knows it.
public struct JournalLogHandler: LogHandler {
    /// Less severe messages are dropped by `Logger` before they get here.
    public var logLevel: Logger.Level
    /// Goes with every entry. Of equal keys that of the provider wins over it, and that of the message over both.
    public var metadata: Logger.Metadata = [:]
    /// Asked once for each entry; nil: nobody is.
    public var metadataProvider: Logger.MetadataProvider?

    private let journal: Journal

    /// - Parameter level: the first value of ``logLevel``.
    public init(journal: Journal, level: Logger.Level = .info, metadataProvider: Logger.MetadataProvider? = nil) {
        self.journal = journal
        self.logLevel = level
        self.metadataProvider = metadataProvider
    }

    /// One value of ``metadata``; nil removes it.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Queues one entry and returns at once. An error of the event becomes `CISTERN_ERROR` unless metadata has one already.
    public func log(event: LogEvent) {
        var merged = metadata
        if let provided = metadataProvider?.get() { merged.merge(provided) { _, new in new } }
        if let given = event.metadata { merged.merge(given) { _, new in new } }

        var entry = JournalEntry(
            event.message.description, priority: JournalPriority(event.level),
            location: .init(file: event.file, line: event.line, function: event.function))
        if case .string(let identifier)? = merged["MESSAGE_ID"], let known = MessageID(rawValue: identifier) {
            entry.messageID = known
            merged["MESSAGE_ID"] = nil
        }
        if let error = event.error { merged["CISTERN_ERROR"] = merged["CISTERN_ERROR"] ?? .string(String(describing: error)) }
        for (key, value) in merged.sorted(by: { $0.key < $1.key }) { Self.append(value, under: key, to: &entry.fields) }
        journal.send(entry)
    }

    private static func append(_ value: Logger.MetadataValue, under key: String, to fields: inout [JournalField]) {
        // What an entry says about itself cannot be overridden; the value stays visible under a name of ours.
        let key = JournalEntry.ownNames.contains(key) ? "CISTERN_" + key : key
        switch value {
        case .string(let text): fields.append(.adapting(key, text))
        case .stringConvertible(let thing): fields.append(.adapting(key, thing.description))
        case .array(let elements): elements.forEach { append($0, under: key, to: &fields) }
        case .dictionary(let entries):
            for (inner, value) in entries.sorted(by: { $0.key < $1.key }) { append(value, under: "\(key)_\(inner)", to: &fields) }
        @unknown default: fields.append(.adapting(key, "\(value)"))
        }
    }
}

extension Logger {
    /// Logs an entry of the catalogue, at the level that belongs to it.
    ///
    ///     logger.log(.runFinished, "github/issues: 12 inserted", metadata: ["CISTERN_SOURCE": "github", "CISTERN_INSERTED": "12"])
    public func log(
        _ id: MessageID, _ message: @autoclosure () -> Logger.Message, metadata: @autoclosure () -> Logger.Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        log(
            level: id.priority.level, message(),
            metadata: metadata().merging(["MESSAGE_ID": .string(id.rawValue)]) { _, own in own },
            file: file, function: function, line: line)
    }
}
