import Foundation
import Glibc
import NIOHTTP1
import SyncTestSupport
import TestTraits
import Testing

@testable import SyncPipeline

/// Four times as much is at most six times the work, whatever it is of. In a process of its own, in which nobody else works.
@Suite struct ScalingTests {
    // Bytes read and written count the work with the file. How many pages a commit takes hangs a little on what else the machine does: what is too much is
    // tried again.
    @Test(.longProcess, .timeLimit(.minutes(60))) func fourTimesAsMuchIsNotReadAndWrittenMoreThanSixTimes() async {
        // Resources commit for themselves, each whole pages of the file: a few of them share pages, and commits, that many do not.
        await #expect(processExitsWith: .success) {
            try await compare(400, repetitions: 1, tries: 4, atMost: { $0 == .resources ? 8 : 6 }) { try Work.bytes() }
        }
    }

    // What is done in memory for all that belongs to one thing. Time of the processor, which others only make longer: what is too long is tried again.
    @Test(.longProcess, .timeLimit(.minutes(60))) func fourTimesAsMuchOfOneThingIsNotMoreThanSixTimesTheWork() async {
        await #expect(processExitsWith: .success) {
            try await compare(4000, of: [.members, .tags, .crowd], repetitions: 1, tries: 4) { Work.time() }
        }
    }
}

/// The time of the processor, which says something only where many repetitions agree: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "measures time: runs under make stress"))
struct ScalingStress {
    @Test(.longProcess) func fourTimesAsMuchTakesNotMoreThanSixTimesTheTime() async {
        await #expect(processExitsWith: .success) { try await compare(1000, repetitions: 7) { Work.time() } }
    }
}

/// What this process has done so far.
private enum Work {
    static func bytes() throws -> Double {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("rchar") || $0.hasPrefix("wchar") }.reduce(0) { sum, line in
            sum + (line.split(separator: " ").last.flatMap { Double($0) } ?? 0)
        }
    }

    static func time() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

private func compare(
    _ n: Int, of shapes: [Shape] = Shape.allCases, repetitions: Int, tries: Int = 1, atMost limit: (Shape) -> Double = { _ in 6 },
    _ work: @Sendable () throws -> Double
) async throws {
    var isFine = true
    for shape in shapes {
        var ratio = Double.infinity
        for _ in 0..<tries where ratio > limit(shape) {
            var ratios: [Double] = []
            for _ in 0..<repetitions { ratios.append(try await shape.work(4 * n, work) / shape.work(n, work)) }
            ratio = ratios.sorted()[ratios.count / 2]
            Evidence.note("\(shape): \(ratio)")
        }
        guard ratio > limit(shape) else { continue }
        Issue.record("\(shape): four times as much is \(ratio) times the work")
        isFine = false
    }
    if !isFine { exit(EXIT_FAILURE) }
}

/// What there may be more and more of.
private enum Shape: CaseIterable {
    case new, unchanged, changed, gone, back, pages, samePages, members, sameMembers, aside, resources
    /// Many records that name one other, and one that names many, which may each have several.
    case tags, crowd

    private static let perPage = 40, perResource = 20

    func work(_ n: Int, _ count: () throws -> Double) async throws -> Double {
        let api = ScriptedAPI(), fixture = try await PipelineFixture(toml(n), savesAtOnce: true) { request, _ in api.answer(request) }
        if self != .new, self != .pages, self != .members, self != .aside, self != .resources, self != .tags, self != .crowd {
            set(api, n, 0)
            try await poll(fixture)
        }
        if self == .back {
            set(api, n, 1, isGone: true)
            try await poll(fixture)
        }
        set(api, n, 2, isGone: self == .gone)
        let before = try count()
        try await poll(fixture)
        let after = try count()
        try await fixture.end()
        return after - before
    }

    private func poll(_ fixture: PipelineFixture) async throws {
        for report in try await fixture.sync() where report.outcome != .succeeded { Issue.record("\(self): \(report)") }
    }

    private func toml(_ n: Int) -> String {
        let limits = "[defaults.limits]\nmax_members = 100000\n",
            deletion = "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0, max_count = 1000000 }\n"
        switch self {
        case .members, .sameMembers:
            let team =
                "[entity.Team]\nkey = [\"id\"]\n[entity.Team.attributes]\nid = { type = \"int64\", optional = false }\n"
                + "[entity.Team.relationships]\npeople = { to = \"Person\", many = true, match = \"embedded\", inverse = \"team\" }\n"
            let person = ScriptedAPI.entities() + "\n[entity.Person.relationships]\nteam = { to = \"Team\", match = \"key\", inverse = \"people\" }\n"
            return ScriptedAPI.configuration(ScriptedAPI.resource("teams", of: "Team"), defaults: limits, entities: team + person)
        case .tags, .crowd:
            let tag = "[entity.Tag]\nkey = [\"id\"]\n[entity.Tag.attributes]\nid = { type = \"int64\", optional = false }\n"
            let people = "[entity.Tag.relationships]\npeople = { to = \"Person\", many = true, inverse = \"tags\" }\n"
            let person = ScriptedAPI.entities() + "\n[entity.Person.relationships]\ntags = { to = \"Tag\", many = true, inverse = \"people\" }\n"
            let resource = self == .tags ? ScriptedAPI.resource("people", of: "Person") : ScriptedAPI.resource("tags", of: "Tag")
            return ScriptedAPI.configuration(resource, defaults: limits, entities: tag + people + person)
        case .resources:
            return ScriptedAPI.configuration((0..<n / Self.perResource).map { ScriptedAPI.resource("r\($0)") }.joined())
        case .pages, .samePages:
            return ScriptedAPI.people("pages = { kind = \"link-header\" }\n")
        case .aside:
            return ScriptedAPI.people(defaults: "[defaults.limits]\nmax_bad_fraction = 0.9\n")
        default: return ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", deletion))
        }
    }

    private func set(_ api: ScriptedAPI, _ n: Int, _ round: Int, isGone: Bool = false) {
        let name = self == .changed ? "name\(round)" : "name", blanks = String(repeating: " ", count: round)
        func list(_ keys: Range<Int>) -> String {
            "[" + keys.map { #"{"id": \#($0), "name": \#(self == .aside && $0 % 2 == 0 ? "{}" : "\"\(name)\"")}"# }.joined(separator: ",")
                + "]\(blanks)"
        }
        switch self {
        case .members, .sameMembers: api.set("/teams", #"[{"id": 1, "people": \#(list(1..<n + 1))}]"#)
        case .tags: api.set("/people", "[" + (0..<n).map { #"{"id": \#($0), "name": "n", "tags": [1]}"# }.joined(separator: ",") + "]")
        case .crowd: api.set("/tags", #"[{"id": 1, "people": [\#((0..<n).map(String.init).joined(separator: ","))]}]"#)
        case .resources:
            for index in 0..<n / Self.perResource { api.set("/r\(index)", list(index * Self.perResource..<(index + 1) * Self.perResource)) }
        case .pages, .samePages:
            for page in 0..<n / Self.perPage {
                let link: HTTPHeaders = page + 1 < n / Self.perPage ? ["Link": "<https://api.example/people?page=\(page + 1)>; rel=\"next\""] : [:]
                api.set("/people\(page == 0 ? "" : "?page=\(page)")", list(page * Self.perPage..<(page + 1) * Self.perPage), headers: link)
            }
        default: api.set("/people", list(0..<(isGone ? 1 : n)))
        }
    }
}
