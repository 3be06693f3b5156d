/// Resources and their entities as the text of a configuration.
struct ConfigurationText {
    /// The name of the source; a further one has a number behind it.
    let source: String
    let drafts: [ResourceDraft]

    /// The resources of one origin: a source each.
    private struct Group {
        let name: String
        let origin: String
        var drafts: [ResourceDraft] = []

        /// What all addresses begin with.
        var base: String {
            guard let first = drafts.first?.base, drafts.allSatisfy({ $0.base == first }) else { return origin }
            return first
        }

        /// How most of its resources identify themselves.
        var auth: TOMLTable {
            var counts: [(auth: TOMLTable, count: Int)] = []
            for draft in drafts {
                if let place = counts.firstIndex(where: { $0.auth == draft.auth }) {
                    counts[place].count += 1
                } else {
                    counts.append((draft.auth, 1))
                }
            }
            // Of several that are as frequent the first.
            var most = 0, auth = TOMLTable()
            for entry in counts where entry.count > most { (most, auth) = (entry.count, entry.auth) }
            return auth
        }
    }

    private var groups: [Group] {
        var groups: [Group] = []
        for draft in drafts {
            if let place = groups.firstIndex(where: { $0.origin == draft.origin }) {
                groups[place].drafts.append(draft)
            } else {
                let number = groups.count + 1
                groups.append(Group(name: number == 1 ? source : "\(source)-\(number)", origin: draft.origin, drafts: [draft]))
            }
        }
        return groups
    }

    /// The names of the sources.
    var sources: [String] { groups.map(\.name) }

    var text: String {
        var lines = ["version = 1", ""]
        let groups = groups
        for group in groups {
            let auth = group.auth
            lines += ["[[source]]", "name = \(TOMLValue.text(group.name).toml)", "base_url = \(TOMLValue.text(group.base).toml)"]
            if !auth.isEmpty { lines.append("auth = \(auth.toml)") }
            // A connector takes an answer without the list for one without records.
            lines += ["parse = { records_absent = \"no-records\" }", ""]
            for draft in group.drafts {
                lines += draft.remarks.map { "# line \(ConfigurationText.comment("\($0)"))" }
                lines += draft.lines(sourceBase: group.base, sourceAuth: auth, parentName: parentName(of: draft, in: group, groups)) + [""]
            }
        }
        for draft in drafts { lines += draft.entity.lines + [""] }
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    private func parentName(of draft: ResourceDraft, in group: Group, _ groups: [Group]) -> String? {
        guard let parent = draft.parent else { return nil }
        if group.origin == parent.origin { return parent.name }
        return groups.first { $0.origin == parent.origin }.map { "\($0.name)/\(parent.name)" } ?? parent.name
    }

    /// A text that stays within its comment.
    static func comment(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar) }
        return String(result)
    }
}
