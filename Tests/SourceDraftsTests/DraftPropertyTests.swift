import Foundation
import SyncPipeline
import TestTraits
import Testing

@testable import SourceDrafts

/// Whatever an answer is, there is a draft that can be used and that holds for it, or a reason why there is none.
@Suite struct DraftPropertyTests {
    /// SplitMix64.
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }

        mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
        mutating func one<T>(of values: [T]) -> T { values[below(values.count)] }
    }

    private static let names = [
        "id", "uuid", "code", "key", "name", "user", "users", "items", "data", "next", "page", "total", "created_at", "updatedAt", "description",
        "hash",
        "a b", "", "it's", "say \\\"x\\\"", "\\u0007", "\\u202e", "cistern_x", "self", "ID", "_id", "1", "é", "e\\u0301", "x]", "\\\\", "a.b", "Z_a",
        "type",
    ]
    private static let scalars = [
        "null", "true", "false", "0", "1", "2", "-7", "1.5", "1e3", "9223372036854775808", "-0", "1500000000", "1500000000000", "1e-400", "\"\"",
        "\"a\"",
        "\"b\"", "\"2024-01-01\"", "\"2024-01-01T00:00:00Z\"", "\"123e4567-e89b-12d3-a456-426614174000\"", "\"\\ud800\"", "\"/x?page=2\"",
        "123456789012345678901234567890123456789012345",
    ]

    private static func value(_ random: inout Random, _ depth: Int) -> String {
        switch random.below(depth == 0 ? 2 : 8) {
        case 2, 3, 4: object(&random, depth)
        case 5, 6: "[" + (0..<random.below(4)).map { _ in value(&random, depth - 1) }.joined(separator: ", ") + "]"
        case 7: "[" + (0..<random.below(5)).map { _ in object(&random, depth) }.joined(separator: ", ") + "]"
        default: random.one(of: scalars)
        }
    }

    private static func object(_ random: inout Random, _ depth: Int) -> String {
        var used: Set<String> = [], members: [String] = []
        for _ in 0..<random.below(7) {
            let name = random.one(of: names)
            guard used.insert(name).inserted else { continue }
            members.append("\"\(name)\": \(value(&random, depth - 1))")
        }
        return "{" + members.joined(separator: ", ") + "}"
    }

    /// Records with an id of their own, which hold objects of a few kinds again and again.
    private static func list(_ random: inout Random) -> String {
        let count = 1 + random.below(8)
        let records = (0..<count).map { number in "{\"id\": \(number), \"rest\": \(object(&random, 3)), \"user\": \(object(&random, 2))}" }
        return "[" + records.joined(separator: ", ") + "]"
    }

    @Test(.longComputation, arguments: UInt64(1)...100) func anyAnswerHasADraftThatHoldsForItOrAReason(_ seed: UInt64) async throws {
        var random = Random(state: seed)
        let body = seed % 3 == 0 ? Self.list(&random) : Self.value(&random, 4)
        let draft: SourceDraft
        do {
            draft = try DraftTrial.draft(body)
        } catch let error as SourceDraftError {
            #expect(!error.message.isEmpty)
            return
        }
        _ = try DraftTrial.configuration(draft)
        #expect(!draft.toml.contains("short_page"))
        // Elements that are no objects are announced.
        guard !draft.toml.contains("set aside, or make") && !draft.toml.contains("no object, and will be set aside") else { return }
        let page = try await DraftTrial.page(draft, body: Array(body.utf8))
        #expect(page.rejected.isEmpty, "seed \(seed): \(page.rejected)\n\(body)\n\(draft.toml)")
    }
}
