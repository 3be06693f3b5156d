import ArgumentParser
import SyncDaemon

/// The command line of the daemon. It has no verbs: it runs in the foreground until it is told to stop.
struct Cisternd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cisternd",
        abstract: "Keeps remote JSON in a local database. Runs in the foreground, under systemd.",
        discussion: """
            Exit status: 0 clean stop; 64 bad command line; 70 internal error; 71 no socket, or too little memory, too few threads or files; \
            73 state directory not writable; 74 disk error; 75 document in use by another cisternd; 77 no usable credential; 78 configuration \
            invalid.
            """,
        version: SyncDaemon.version)

    @Option(help: "The configuration file. Drop-ins are merged into it: conf.d beside cisternd.toml, NAME.conf.d beside NAME.toml.")
    var config = "/etc/cistern/cisternd.toml"

    @Option(
        help: ArgumentHelp(
            "Warn in the journal, naming the code, when something holds the main queue for longer than this.", valueName: "milliseconds"))
    var maxBlock: Int?

    @Flag(help: "Check the configuration and its model, print what is wrong, and end with 0 or 78. Opens no store.")
    var checkConfig = false

    func validate() throws {
        if let maxBlock, maxBlock < 1 { throw ValidationError("--max-block is a number of milliseconds, 1 or more; \(maxBlock) was given.") }
    }
}
