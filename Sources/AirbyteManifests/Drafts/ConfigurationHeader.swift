/// What stands above a configuration that was made of a manifest: what it is, and what is still to be done.
struct ConfigurationHeader {
    let file: String
    let findings: [AirbyteFinding]
    let credentials: [AirbyteConversion.Credential]
    let values: [AirbyteConversion.Value]

    var text: String {
        var lines = [
            "Made of \(file) by cisternctl import airbyte. It is a draft: read it, then let cisternctl try show",
            "what each resource brings, before cisternd polls it.",
        ]
        add("Credentials to provide:", credentials.map { "\($0.name): \($0.holds)" }, to: &lines)
        add(
            "To be filled in, wherever it stands below (or: --set FIELD=VALUE):",
            values.filter { $0.source == .placeholder }.map { "\($0.value): \($0.field)" + ($0.title.isEmpty ? "" : ", \($0.title)") }, to: &lines)
        add(
            "Taken from the manifest, where the user could have said otherwise:",
            values.filter { $0.source == .manifest }.map { "\($0.field) = \($0.value)" }, to: &lines)
        add("Left out:", findings.filter(\.isLeftOut).map { "line \($0)" }, to: &lines)
        return lines.map { $0.isEmpty ? "#" : "# \(ConfigurationText.comment($0))" }.joined(separator: "\n") + "\n\n"
    }

    private func add(_ title: String, _ entries: [String], to lines: inout [String]) {
        if entries.isEmpty { return }
        lines += ["", title] + entries.map { "  \($0)" }
    }
}
