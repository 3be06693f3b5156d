import SyncReports

/// What records say that does not match the model, and is not set aside.
extension ListingRun {
    /// Tells of it, as far as the run has not yet.
    func tellMismatches(of parsed: ParsedPage, page: Int, _ redactor: Redactor, _ tally: inout RunTally) {
        for (attribute, values) in parsed.mismatches.nulled.sorted(by: { $0.key < $1.key }) where tally.nulled.insert(attribute).inserted {
            environment.observe(
                .valuesNulled(
                    scope: scope, run: id, page: page, attribute: attribute, count: values.count,
                    first: RemoteText.line(redactor.redact(values.first))))
        }
        let names = parsed.mismatches.unknown.filter { !tally.unknown.contains($0) }.prefix(PageMismatches.mostUnknown - tally.unknown.count)
        guard !names.isEmpty else { return }
        tally.unknown.formUnion(names)
        environment.observe(.fieldsUnknown(scope: scope, run: id, page: page, names: names.map { RemoteText.line(redactor.redact($0)) }))
    }
}
