import Logging
import Testing

@testable import Systemd

struct JournalLogHandlerTests {
    let sink = RecordingSink()

    private func makeLogger(level: Logger.Level = .trace, provider: Logger.MetadataProvider? = nil) -> (Logger, Journal) {
        let journal = Journal(sink: sink)
        let logger = Logger(
            label: "test",
            factory: { _ in
                JournalLogHandler(journal: journal, level: level, metadataProvider: provider)
            })
        return (logger, journal)
    }

    private func fields(_ entry: JournalEntry?) -> [String] { (entry?.fields ?? []).map { "\($0.name)=\($0.value)" } }

    // Section 9, the table of priorities
    @Test func levelsBecomePriorities() {
        let (logger, journal) = makeLogger()
        for level in Logger.Level.allCases { logger.log(level: level, "x") }
        journal.flush(within: .seconds(10))
        #expect(Logger.Level.allCases == [.trace, .debug, .info, .notice, .warning, .error, .critical])
        #expect(sink.entries.map(\.priority.rawValue) == [7, 7, 6, 5, 4, 3, 2])
    }

    @Test func metadataBecomesFields() {
        var (logger, journal) = makeLogger()
        logger[metadataKey: "CISTERN_SOURCE"] = "github"
        logger[metadataKey: "CISTERN_PAGE"] = "1"
        logger.info("polled", metadata: ["CISTERN_PAGE": "7", "content type": .stringConvertible(42)])
        journal.flush(within: .seconds(10))
        #expect(fields(sink.entries.first) == ["CISTERN_PAGE=7", "CISTERN_SOURCE=github", "CISTERN_CONTENT_TYPE=42"])
    }

    @Test func listsAndTablesBecomeSeveralFields() {
        let (logger, journal) = makeLogger()
        logger.info("x", metadata: ["CISTERN_TAG": ["a", "b"], "CISTERN_RATE": ["limit": "60", "remaining": "3"]])
        journal.flush(within: .seconds(10))
        #expect(
            Set(fields(sink.entries.first)) == [
                "CISTERN_TAG=a", "CISTERN_TAG=b", "CISTERN_RATE_LIMIT=60", "CISTERN_RATE_REMAINING=3",
            ])
    }

    @Test func theProvidersMetadataLiesBetweenTheLoggersAndTheCalls() {
        let provider = Logger.MetadataProvider { ["CISTERN_RUN": "provided", "CISTERN_PAGE": "provided"] }
        var (logger, journal) = makeLogger(provider: provider)
        logger[metadataKey: "CISTERN_RUN"] = "logger"
        logger.info("x", metadata: ["CISTERN_PAGE": "call"])
        journal.flush(within: .seconds(10))
        #expect(fields(sink.entries.first) == ["CISTERN_PAGE=call", "CISTERN_RUN=provided"])
    }

    @Test func whereItWasLoggedIsKept() {
        let (logger, journal) = makeLogger()
        logger.info("x")
        let line: UInt = #line - 1
        journal.flush(within: .seconds(10))
        let location = sink.entries.first?.location
        #expect(location?.line == line)
        #expect(location?.file == #fileID)
        #expect(location?.function == #function)
    }

    @Test func anEntryOfTheCatalogueHasItsIdAndItsLevel() {
        let (logger, journal) = makeLogger()
        logger.log(.diskLow, "No room", metadata: ["ERRNO": "28"])
        journal.flush(within: .seconds(10))
        let entry = sink.entries.first
        #expect(entry?.messageID == .diskLow)
        #expect(entry?.priority == .critical)
        #expect(fields(entry) == ["ERRNO=28"])
    }

    @Test func metadataCannotForgeWhatTheEntrySaysAboutItself() {
        let (logger, journal) = makeLogger()
        logger.info("true", metadata: ["MESSAGE": "false", "PRIORITY": "0", "MESSAGE_ID": "0123"])
        journal.flush(within: .seconds(10))
        let entry = sink.entries.first
        #expect(entry?.message == "true")
        #expect(entry?.messageID == nil)
        #expect(fields(entry) == ["CISTERN_MESSAGE=false", "CISTERN_MESSAGE_ID=0123", "CISTERN_PRIORITY=0"])
    }

    @Test func anErrorGoesAlong() {
        struct Broken: Error, CustomStringConvertible { let description = "pipe broke" }
        let (logger, journal) = makeLogger()
        logger.error("x", error: Broken())
        journal.flush(within: .seconds(10))
        #expect(fields(sink.entries.first) == ["CISTERN_ERROR=pipe broke"])
    }

    @Test func whatIsBelowTheLevelIsNotLogged() {
        let (logger, journal) = makeLogger(level: .notice)
        logger.info("quiet")
        logger.notice("loud")
        journal.flush(within: .seconds(10))
        #expect(sink.messages == ["loud"])
    }
}
