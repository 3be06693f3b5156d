import ManifestTestSupport

/// What became of the streams of many manifests, as a table.
struct ManifestReport {
    private var rows: [(connector: String, results: [ManifestTrial.Result])] = []

    mutating func add(_ connector: String, _ results: [ManifestTrial.Result]) {
        rows.append((connector: connector, results: results))
    }

    /// A line for each failure.
    var failures: [String] {
        rows.flatMap { row in
            row.results.compactMap { result in
                guard case .failed(let why) = result.outcome else { return nil }
                return "\(row.connector) \(result.stream.isEmpty ? "requests" : result.stream): \(why)"
            }
        }
    }

    var lines: [String] {
        var lines = ["connector                                 streams  mirrored  left out  failed"]
        var totals = (streams: 0, mirrored: 0, leftOut: 0, failed: 0)
        var reasons: [String: Int] = [:]
        for row in rows.sorted(by: { $0.connector < $1.connector }) {
            var mirrored = 0, leftOut = 0, failed = 0, streams = 0
            for result in row.results {
                if !result.stream.isEmpty { streams += 1 }
                switch result.outcome {
                case .mirrored: mirrored += 1
                case .leftOut(let why):
                    leftOut += 1
                    reasons[String(why.prefix(90)), default: 0] += 1
                case .failed: failed += 1
                }
            }
            lines.append(Self.line(row.connector, [streams, mirrored, leftOut, failed]))
            totals = (totals.streams + streams, totals.mirrored + mirrored, totals.leftOut + leftOut, totals.failed + failed)
        }
        lines.append(Self.line("all \(rows.count)", [totals.streams, totals.mirrored, totals.leftOut, totals.failed]))
        for (reason, count) in reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) { lines.append("left out \(count): \(reason)") }
        return lines + failures.map { "failed: \($0)" }
    }

    private static func line(_ name: String, _ numbers: [Int]) -> String {
        let cells = zip(numbers, [7, 8, 8, 6]).map { number, width in
            String(repeating: " ", count: max(width - "\(number)".count, 0)) + "\(number)"
        }
        return name + String(repeating: " ", count: max(42 - name.count, 1)) + cells.joined(separator: "  ")
    }
}
