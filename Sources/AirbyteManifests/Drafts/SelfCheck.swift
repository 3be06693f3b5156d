import SyncConfiguration

/// Has the reader of configurations read what is about to be written: what it refuses this version cannot say.
struct SelfCheck {
    /// What else is asked of a configuration; the answer says what is wrong with it.
    let accepts: (CisternConfiguration) -> String?

    /// Checks a resource with all that it has parts for. What is refused is told; what may be left out is, and then it is told, too.
    func check(_ draft: ResourceDraft, source: String, _ findings: StreamFindings) {
        guard let problem = problem(ConfigurationText(source: source, drafts: draft.lineage).text) else { return }
        for key in draft.dispensable.sorted() {
            guard let value = draft.extras[key] else { continue }
            draft.extras[key] = nil
            if self.problem(ConfigurationText(source: source, drafts: draft.lineage).text) == nil {
                findings.remark("error_handler", nil, line: draft.line, "this version cannot say \(key); such answers are judged by their status")
                return
            }
            draft.extras[key] = value
        }
        let others = draft.dispensable.reduce(into: draft.extras) { $0[$1] = nil }
        let all = draft.extras
        draft.extras = others
        if others != all, self.problem(ConfigurationText(source: source, drafts: draft.lineage).text) == nil {
            let keys = draft.dispensable.sorted().joined(separator: ", ")
            findings.remark("error_handler", nil, line: draft.line, "this version cannot say \(keys); such answers are judged by their status")
            return
        }
        draft.extras = all
        findings.refuse("configuration", nil, line: draft.line, "this version cannot say it: \(problem)")
    }

    /// What is wrong with the text of a configuration; nil: nothing.
    func problem(_ text: String) -> String? {
        let path = "/cisternd.toml"
        let reading = ConfigurationReader(path: path, files: ConfigurationTexts([path: text])).read()
        if let error = reading.errors.first { return (error.keyPath.isEmpty ? "" : "\(error.keyPath): ") + error.message }
        return reading.configuration.flatMap(accepts)
    }
}
