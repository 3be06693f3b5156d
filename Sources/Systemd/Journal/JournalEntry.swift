/// One entry of the journal.
public struct JournalEntry: Sendable, Equatable {
    /// Where in the source an entry comes from.
    public struct Location: Sendable, Equatable {
        public let file: String
        public let line: UInt
        public let function: String

        public init(file: String = #fileID, line: UInt = #line, function: String = #function) {
            self.file = file
            self.line = line
            self.function = function
        }
    }

    public var message: String
    public var priority: JournalPriority
    /// The catalogue explains entries that have one.
    public var messageID: MessageID?
    /// In addition to those that the properties stand for. A name may occur more than once.
    public var fields: [JournalField]
    public var location: Location?

    public init(
        _ message: String, priority: JournalPriority, messageID: MessageID? = nil, fields: [JournalField] = [],
        location: Location? = nil
    ) {
        self.message = message
        self.priority = priority
        self.messageID = messageID
        self.fields = fields
        self.location = location
    }

    /// An entry of the catalogue, with its priority.
    public init(_ messageID: MessageID, _ message: String, fields: [JournalField] = [], location: Location? = nil) {
        self.init(message, priority: messageID.priority, messageID: messageID, fields: fields, location: location)
    }

    /// Names that the properties of an entry speak for.
    static let ownNames: Set<String> = [
        "MESSAGE", "PRIORITY", "MESSAGE_ID", "SYSLOG_IDENTIFIER", "CODE_FILE", "CODE_LINE", "CODE_FUNC",
    ]

    /// The entry as the journal gets it: its own fields first, then the additional ones.
    func allFields(identifier: String) -> [JournalField] {
        var all: [(String, String)] = [
            ("MESSAGE", message), ("PRIORITY", String(priority.rawValue)), ("SYSLOG_IDENTIFIER", identifier),
        ]
        if let messageID { all.append(("MESSAGE_ID", messageID.rawValue)) }
        if let location {
            all += [("CODE_FILE", location.file), ("CODE_LINE", String(location.line)), ("CODE_FUNC", location.function)]
        }
        return all.compactMap { JournalField($0.0, $0.1) } + fields.filter { !Self.ownNames.contains($0.name) }
    }
}
