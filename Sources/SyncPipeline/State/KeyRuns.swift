/// A set of primary keys, kept as ascending runs. What a page or a listing vouches for: keys are counted up as rows arrive, so a page of a million
/// rows is a handful of runs. Sets are combined by merging their runs: nothing is hashed, and what it costs follows from the number of runs, not of
/// keys. Keys without neighbours take one run each.
struct KeyRuns: Hashable, Sendable {
    /// Ascending; between two of them at least one key is missing.
    let runs: [ClosedRange<Int64>]

    /// - Parameter runs: ascending, and no two of them touch.
    init(ascending runs: [ClosedRange<Int64>] = []) { self.runs = runs }

    init(_ keys: some Sequence<Int64>) {
        var collector = KeyCollector()
        for key in keys { collector.add(key) }
        self = collector.keys
    }

    var isEmpty: Bool { runs.isEmpty }

    /// How many keys there are; `Int.max` where there are more than that.
    var count: Int {
        var count: UInt64 = 0
        for run in runs {
            let (sum, isTooMany) = count.addingReportingOverflow(run.distance)
            if isTooMany || sum >= Int.max { return .max }
            count = sum + 1
        }
        return Int(count)
    }

    func contains(_ key: Int64) -> Bool {
        let index = runs.firstIndex(endingAtOrAfter: key, from: 0)
        return index < runs.count && runs[index].lowerBound <= key
    }

    func isSubset(of other: KeyRuns) -> Bool {
        var index = 0
        return runs.allSatisfy { run in
            index = other.runs.firstIndex(endingAtOrAfter: run.lowerBound, from: index)
            return index < other.runs.count && other.runs[index].lowerBound <= run.lowerBound && other.runs[index].upperBound >= run.upperBound
        }
    }

    func union(_ other: KeyRuns) -> KeyRuns {
        if other.isEmpty { return self }
        if isEmpty { return other }
        var collector = KeyCollector(), index = 0
        for run in other.runs {
            while index < runs.count, runs[index].lowerBound <= run.lowerBound {
                collector.add(runs[index])
                index += 1
            }
            collector.add(run)
        }
        for run in runs[index...] { collector.add(run) }
        return collector.keys
    }

    func subtracting(_ other: KeyRuns) -> KeyRuns {
        if isEmpty || other.isEmpty { return self }
        var left: [ClosedRange<Int64>] = [], index = 0
        for run in runs {
            index = other.runs.firstIndex(endingAtOrAfter: run.lowerBound, from: index)
            var lower = run.lowerBound, isUsedUp = false
            while index < other.runs.count, other.runs[index].lowerBound <= run.upperBound {
                let cut = other.runs[index]
                if cut.lowerBound > lower { left.append(lower...cut.lowerBound - 1) }
                // It may reach into the next run, too.
                isUsedUp = cut.upperBound >= run.upperBound
                if isUsedUp { break }
                lower = cut.upperBound + 1
                index += 1
            }
            if !isUsedUp { left.append(lower...run.upperBound) }
        }
        return KeyRuns(ascending: left)
    }

    func intersection(_ other: KeyRuns) -> KeyRuns {
        let (few, many) = runs.count <= other.runs.count ? (runs, other.runs) : (other.runs, runs)
        var common: [ClosedRange<Int64>] = [], index = 0
        for run in few {
            index = many.firstIndex(endingAtOrAfter: run.lowerBound, from: index)
            while index < many.count, many[index].lowerBound <= run.upperBound {
                common.append(Swift.max(run.lowerBound, many[index].lowerBound)...Swift.min(run.upperBound, many[index].upperBound))
                if many[index].upperBound > run.upperBound { break }
                index += 1
            }
        }
        return KeyRuns(ascending: common)
    }

    mutating func formUnion(_ other: KeyRuns) { self = union(other) }
    mutating func subtract(_ other: KeyRuns) { self = subtracting(other) }

    /// Calls `body` with the keys in ascending order, at most `size` of them at a time.
    func forEachPiece(of size: Int, _ body: (KeyRuns) throws -> Void) rethrows {
        var piece: [ClosedRange<Int64>] = [], room = size
        for run in runs {
            var lower = run.lowerBound
            while UInt64(bitPattern: run.upperBound &- lower) >= UInt64(room) {
                let end = lower + Int64(room) - 1
                try body(KeyRuns(ascending: piece + [lower...end]))
                (piece, room, lower) = ([], size, end + 1)
            }
            piece.append(lower...run.upperBound)
            room -= Int(run.upperBound - lower) + 1
            if room == 0 {
                try body(KeyRuns(ascending: piece))
                (piece, room) = ([], size)
            }
        }
        if !piece.isEmpty { try body(KeyRuns(ascending: piece)) }
    }
}

extension KeyRuns: Sequence {
    func makeIterator() -> FlattenSequence<[ClosedRange<Int64>]>.Iterator { runs.joined().makeIterator() }
}

extension KeyRuns: ExpressibleByArrayLiteral {
    init(arrayLiteral keys: Int64...) { self.init(keys) }
}

/// Gathers keys in any order. Those that ascend, as those of new rows do, take a run together at once; the others are sorted in the end.
struct KeyCollector: Sendable {
    private var runs: [ClosedRange<Int64>] = []
    /// They ascend, and no two of them touch.
    private var isAscending = true

    mutating func add(_ key: Int64) { add(key...key) }

    mutating func add(_ keys: KeyRuns) {
        for run in keys.runs { add(run) }
    }

    mutating func add(_ run: ClosedRange<Int64>) {
        guard let last = runs.last else { return runs.append(run) }
        if run.lowerBound < last.lowerBound {
            isAscending = false
            runs.append(run)
        } else if run.lowerBound <= last.upperBound || run.lowerBound - 1 == last.upperBound {
            runs[runs.count - 1] = last.lowerBound...max(last.upperBound, run.upperBound)
        } else {
            runs.append(run)
        }
    }

    /// What was gathered so far.
    var keys: KeyRuns {
        if isAscending { return KeyRuns(ascending: runs) }
        var sorted = KeyCollector()
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) { sorted.add(run) }
        return KeyRuns(ascending: sorted.runs)
    }
}

extension ClosedRange<Int64> {
    /// How many keys follow its first one.
    fileprivate var distance: UInt64 { UInt64(bitPattern: upperBound &- lowerBound) }
}

extension [ClosedRange<Int64>] {
    /// The first of ascending runs, at `start` or after it, that does not end before `key`; the number of runs if there is none. The nearer it is,
    /// the sooner it is found.
    fileprivate func firstIndex(endingAtOrAfter key: Int64, from start: Int) -> Int {
        var low = start, step = 1
        while low + step <= count, self[low + step - 1].upperBound < key {
            low += step
            step *= 2
        }
        var high = Swift.min(low + step, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
