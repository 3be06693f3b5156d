import Logging

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
