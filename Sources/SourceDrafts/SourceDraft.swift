/// A source that one answer suggests, as a configuration that can be used at once, and why it is as it is.
///
/// Everything in it comes from the sample: other answers may have more. What would lose records if it were wrong is not guessed.
public struct SourceDraft: Sendable {
    /// One thing that was decided.
    public struct Decision: Sendable, Hashable {
        /// What: a key of the configuration, such as `records` or `entity.Item.key`.
        public let subject: String
        /// How, as TOML; empty: nothing is written.
        public let choice: String
        /// Why, as a sentence.
        public let reason: String
    }

    /// The scope of its resource, as other verbs take it: `items/items`.
    public let scope: String
    /// The names of its entities, that of the records first.
    public let entities: [String]
    /// How many records the sample has.
    public let recordCount: Int
    /// In the order of the text.
    public let decisions: [Decision]
    /// The text: a configuration with comments.
    public let toml: String

    /// Drafts a source.
    /// - Throws: ``SourceDraftError`` if the sample is not JSON, or has no records.
    public init(_ sample: Sample) throws(SourceDraftError) {
        let (body, problem) = try SampleReader.read(sample.body)
        let found = try SampleRecords.find(in: body)
        let pages = PagesDraft.choose(for: sample, body: body, found: found)
        let subject = found.name.isEmpty ? sample.origin.subject : found.name
        let model = ModelDraft(found, name: DraftNames.entity(subject, taken: []))
        var writer = DraftWriter(sample: sample, found: found, pages: pages, model: model)
        writer.write(problem: problem)
        scope = "\(sample.origin.name)/\(sample.origin.name)"
        entities = model.entities.filter(\.isUsed).map(\.name)
        recordCount = found.records.count
        decisions = writer.decisions
        toml = writer.lines.joined(separator: "\n") + "\n"
    }
}
