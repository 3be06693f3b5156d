import ArgumentParser
import ConfigurationTestKit
import Foundation
import Secrets
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `test`: what a configuration makes of recorded answers, without the daemon and without the network.
struct TestVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run the tests of a configuration: recorded answers, and what is to come of them.",
        discussion: """
            A file NAME.test.toml holds tests of the configuration NAME.toml beside it, or of the one that it names. Nothing is fetched, no \
            credential is read, and no daemon is asked. \
            Without PATH it is the file beside the configuration. Ends with 0, 1 if something came differently, or \
            78 if a configuration or a file of tests cannot be used. With --generate it fetches for once, and writes such a file.
            """)

    @OptionGroup var options: CommonOptions

    @Option(help: ArgumentHelp("Fetch this resource as it is now, and write a file of tests of that.", valueName: "source/resource"))
    var generate: String?

    @Option(help: "With --generate: fetch at most this many pages.")
    var pages = 2

    @Argument(help: "Files of tests, and directories of such files.")
    var paths: [String] = []

    func validate() throws {
        guard (1...100).contains(pages) else { throw ValidationError("--pages takes a number from 1 to 100") }
        if generate != nil, paths.count > 1 { throw ValidationError("--generate writes one file") }
    }

    /// How one test ended.
    private struct Outcome: Encodable {
        var file: String
        var test: String
        var ok: Bool
        var differences: [TestDifference]
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        if let generate { return try await record(generate, surroundings) }
        // Everything is read before anything is run.
        let files = try self.files(surroundings)
        var outcomes: [Outcome] = []
        for (file, configuration) in files {
            let runner = TestRunner(configuration, folder: FileManager.default.temporaryDirectory, version: CisternVersion.current)
            for test in file.tests {
                let differences: [TestDifference]
                do {
                    differences = try await runner.run(test)
                } catch {
                    differences = [TestDifference(test.place, "the test cannot be run", got: error.inWords)]
                }
                let outcome = Outcome(file: file.path, test: test.name, ok: differences.isEmpty, differences: differences)
                outcomes.append(outcome)
                if !options.json { show(outcome, surroundings.console) }
            }
        }
        if options.json {
            try surroundings.console.json(outcomes, pretty: true)
        } else {
            surroundings.console.out(Self.summary(outcomes.count, failed: outcomes.count { !$0.ok }))
        }
        return outcomes.allSatisfy(\.ok) ? .success : .failure
    }

    private func show(_ outcome: Outcome, _ console: Console) {
        console.out("\(outcome.ok ? "ok" : "FAILED")  \(outcome.test)")
        for difference in outcome.differences {
            console.out("  \(difference)")
            if let block = difference.block { console.block(block) }
        }
    }

    static func summary(_ count: Int, failed: Int) -> String {
        let tests = "\(count) \(count == 1 ? "test" : "tests")"
        return failed == 0 ? "\(tests), all ok" : "\(tests), \(failed) failed"
    }

    // MARK: Files

    private func files(_ surroundings: Surroundings) throws(ControlError) -> [(file: TestFile, configuration: CisternConfiguration)] {
        var problems: [String] = []
        var files: [(file: TestFile, configuration: CisternConfiguration)] = []
        for path in try testPaths(surroundings) {
            let file: TestFile
            do {
                file = try TestFile(path, in: surroundings.files)
            } catch {
                problems += error.problems.map(\.description)
                continue
            }
            let reading = surroundings.reader(options, at: options.config ?? file.configurationPath).read()
            if let configuration = reading.configuration {
                files.append((file, configuration))
            } else {
                problems += reading.errors.map(\.description)
            }
        }
        guard problems.isEmpty else {
            throw ControlError("there is something that cannot be used", advice: "correct it", code: .configuration, problems: problems)
        }
        return files
    }

    private func testPaths(_ surroundings: Surroundings) throws(ControlError) -> [String] {
        if paths.isEmpty { return [TestFile.path(of: options.config ?? Surroundings.defaultConfiguration)] }
        var result: [String] = []
        for path in paths {
            if path.hasSuffix(".toml") {
                result.append(path)
                continue
            }
            let directory = path.hasSuffix("/") && path.count > 1 ? String(path.dropLast()) : path
            let names = (try? surroundings.files.names(in: directory)) ?? []
            let found = names.filter { $0.hasSuffix(TestFile.ending) && !$0.hasPrefix(".") }.sorted().map { "\(directory)/\($0)" }
            if found.isEmpty {
                throw ControlError("there are no tests in \(path)", advice: "name a file, or a directory of files NAME.test.toml", code: .usage)
            }
            result += found
        }
        return result
    }

    // MARK: Generating

    private func record(_ scope: String, _ surroundings: Surroundings) async throws -> ControlExitCode {
        let configuration = try surroundings.configuration(options)
        guard let resource = configuration.resource(scope: scope) else {
            let known = configuration.sources.flatMap(\.resources).map(\.scope).joined(separator: ", ")
            throw ControlError(
                "there is no resource \"\(scope)\"", advice: known.isEmpty ? "the configuration has none" : "there are \(known)", code: .usage)
        }
        let main = options.config ?? Surroundings.defaultConfiguration
        let path = paths.first ?? TestFile.path(of: main)
        guard !surroundings.exists(path) else {
            throw ControlError(
                "\(path) is there already, and stays as it is", advice: "name another file: cisternctl test --generate \(scope) PATH", code: .usage)
        }
        let secrets = SecretResolver(SecretReader(environment: surroundings.environment, sources: TryVerb.credentialSources))
        let recorder = TestRecorder(configuration, folder: FileManager.default.temporaryDirectory, version: CisternVersion.current)
        var text: String
        do {
            text = try await recorder.record(resource, pages: pages, secrets: secrets) { TransportPool(secrets: $0, behind: $1) }
        } catch let refusal as TestRecorder.Refusal {
            throw ControlError(refusal.description, code: .dataError)
        }
        if path != TestFile.path(of: main) {
            let name = URL(fileURLWithPath: main).standardizedFileURL.path
            text = "configuration = \(tomlQuoted(name))\n\n" + text
        }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        } catch {
            throw ControlError("\(path) cannot be written: \(error.localizedDescription)", code: .ioError)
        }
        surroundings.console.out("Wrote \(path). Look it over: answers stand in it as they came.")
        return .success
    }
}
