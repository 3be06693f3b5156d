import ArgumentParser
import Foundation
import SyncControl

// The main thread runs the main queue: `try` maps what it fetched in a context of that queue.
Task {
    let code = await Cisternctl.run(arguments: Array(CommandLine.arguments.dropFirst()), surroundings: .current)
    exit(code.rawValue)
}
RunLoop.main.run()
