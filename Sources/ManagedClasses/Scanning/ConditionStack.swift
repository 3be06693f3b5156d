/// The branches of `#if` that a place in a source stands in.
struct ConditionStack {
    private struct Branch {
        /// What the branches before this one ask.
        var earlier: [String] = []
        var current: String?
        var isExcluded = false
        var wasTaken = false
    }

    private var branches: [Branch] = []

    /// Whether this is known to be no part of a build on Linux.
    var isExcluded: Bool { branches.contains { $0.isExcluded } }

    /// What has to hold here, from the outermost `#if` to the innermost.
    var texts: [String] {
        branches.flatMap { branch in branch.earlier.map { "!(\($0))" } + (branch.current.map { [$0] } ?? []) }
    }

    mutating func begin() { branches.append(Branch()) }

    /// Leaves a branch for the next of the same `#if`.
    mutating func next() {
        guard var branch = branches.popLast() else { return }
        if let current = branch.current { branch.earlier.append(current) }
        branch.current = nil
        branches.append(branch)
    }

    /// - Parameter condition: as written; nil after `#else`.
    /// - Parameter value: what it is known to be.
    mutating func ask(_ condition: String?, value: Bool?) {
        guard var branch = branches.popLast() else { return }
        branch.current = condition
        branch.isExcluded = branch.wasTaken || value == false
        branch.wasTaken = branch.wasTaken || value == true
        branches.append(branch)
    }

    mutating func end() { _ = branches.popLast() }
}
