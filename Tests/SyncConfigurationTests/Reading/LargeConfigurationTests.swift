import Glibc
import Testing

@testable import SyncConfiguration

/// What a reading costs grows with the size of the files, not with its square; and a long list of complaints is cut off.
@Suite(.serialized) struct LargeConfigurationTests {
    /// A configuration with `count` things of one kind.
    enum Shape: String, CaseIterable, Sendable {
        case sources, unknownKeys, attributes, relationships, entities, keyParts, sourcesOfEntities, lostTargets, dropIns, headers

        /// So many that what is quadratic is seen.
        var count: Int { [.sources, .sourcesOfEntities, .dropIns].contains(self) ? 1000 : 2000 }

        func files(_ count: Int) -> ConfigurationTexts {
            func lines(_ line: (Int) -> String) -> String { (0..<count).map(line).joined() }
            let id = "id = { type = \"string\" }\n"
            let text =
                switch self {
                case .sources: lines { "[[source]]\nname = \"s\($0)\"\n" }
                case .unknownKeys: lines { "k\($0) = 1\n" }
                case .attributes: "[entity.A.attributes]\n" + id + lines { "a\($0) = { type = \"string\" }\n" }
                case .relationships: "[entity.A.attributes]\n" + id + "[entity.A.relationships]\n" + lines { "r\($0) = { to = \"A\" }\n" }
                case .entities:
                    lines {
                        "[entity.E\($0).attributes]\n" + id
                            + "[entity.E\($0).relationships]\nnext = { to = \"E\(($0 + 1) % count)\", inverse = \"prev\" }\n"
                            + "prev = { to = \"E\(($0 + count - 1) % count)\" }\n"
                    }
                case .keyParts:
                    "[entity.A]\nkey = [\((0..<count).map { "\"a\($0)\"" }.joined(separator: ", "))]\n[entity.A.attributes]\n"
                        + lines { "a\($0) = { type = \"string\" }\n" }
                case .sourcesOfEntities:
                    lines { "[entity.E\($0).attributes]\n" + id }
                        + lines { "[[source]]\nname = \"s\($0)\"\nurl = \"http://127.0.0.1/x\"\nentity = \"E\($0)\"\n" }
                case .lostTargets:
                    lines { "[entity.E\($0).attributes]\n" + id + "[entity.E\($0).relationships]\nnext = { to = \"X\($0)\" }\n" }
                case .headers: "[defaults.http]\nheaders = { \((0..<count).map { "h\($0) = \"x\"" }.joined(separator: ", ")) }\n"
                case .dropIns: ""
                }
            guard self == .dropIns else { return ["/c/cisternd.toml": text] }
            let files = (0..<count).map { ("/c/conf.d/\($0).toml", "[[source]]\nname = \"s\($0)\"\n") }
            return ConfigurationTexts(Dictionary(uniqueKeysWithValues: files + [("/c/cisternd.toml", "")]))
        }
    }

    /// The processor time of this thread that a piece of work takes, in seconds. What else the machine does is not in it.
    private func processorTime(_ work: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        work()
        return now() - start
    }

    /// How much longer four times as much takes; the smallest of a few tries, as chance only ever adds. Four in a linear world, sixteen in a
    /// quadratic one.
    private func growth(_ small: () -> Void, _ large: () -> Void) -> Double {
        var (least, most) = (Double.infinity, Double.infinity)
        for _ in 0..<5 {
            least = min(least, processorTime(small))
            most = min(most, processorTime(large))
            if most / least <= 6 { break }
        }
        return most / least
    }

    @Test(.timeLimit(.minutes(60)), arguments: Shape.allCases)
    func fourTimesTheConfigurationTakesAboutFourTimesAsLong(shape: Shape) {
        func reading(_ count: Int) -> () -> Void {
            let reader = ConfigurationReader(path: "/c/cisternd.toml", files: shape.files(count))
            return { #expect(!reader.read().files.isEmpty) }
        }
        #expect(growth(reading(shape.count), reading(shape.count * 4)) <= 6)
    }

    @Test(.timeLimit(.minutes(60))) func fourTimesTheTablesOfAnArrayTakeAboutFourTimesAsLong() {
        func parsing(_ count: Int) -> () -> Void {
            let bytes = Array(String(repeating: "[[source]]\n", count: count).utf8)
            return { #expect((try? DocumentParser(file: "/c", rank: 0).parse(bytes)) != nil) }
        }
        #expect(growth(parsing(10_000), parsing(40_000)) <= 6)
    }

    @Test func aHundredErrorsAreListedAndTheOthersCounted() throws {
        let reading = read((0..<250).map { "k\($0) = 1\n" }.joined())
        #expect(reading.errorCount == 250)
        #expect(reading.errors.count == 101)
        #expect(reading.errors.first?.line == 1)
        #expect(
            reading.problems.last?.description == "/c/cisternd.toml: 150 more errors not listed here; correct those above first")
        #expect(read("k = 1\n").errorCount == 1)
        #expect(read("k = 1\n").errors.count == 1)
    }

    @Test func warningsDoNotHideErrors() {
        let sources = (0..<150).map {
            "[[source]]\nname = \"s\($0)\"\nurl = \"http://example.com/\"\nentity = \"Item\"\n"
                + "auth = { kind = \"bearer\", token = { env = \"T\" } }\n"
        }
        let reading = read(itemModel + sources.joined() + "[[source]]\nname = \"last\"\n")
        #expect(reading.errorCount == 2)
        #expect(reading.errors.count == 2)
        #expect(reading.warningCount > 300)
        #expect(reading.warnings.count == 101)
        #expect(reading.configuration == nil)
        let usable = read(itemModel + sources.joined())
        #expect(usable.errorCount == 0)
        #expect(usable.configuration?.sources.count == 150)
        #expect(usable.problems.last?.severity == .warning)
    }

    @Test func ofVeryManyKnownWordsAFewAreNamed() throws {
        let entities = (0..<1000).map { "[entity.Thing\($0).attributes]\nid = { type = \"string\" }\n" }.joined()
        let source = "[[source]]\nname = \"s\"\nurl = \"https://example.com/\"\nentity = \"Nothing-like-it\"\n"
        let error = try #require(read(entities + source).errors.first)
        #expect(error.suggestion?.hasSuffix("Thing59, and 940 more") == true, "\(error)")
    }
}
