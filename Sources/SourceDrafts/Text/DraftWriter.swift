import JSONPaths
import SyncConfiguration

/// Writes a draft: each decision below the comment that says why.
struct DraftWriter {
    let sample: Sample
    let found: SampleRecords
    let pages: PagesDraft
    let model: ModelDraft
    private(set) var lines: [String] = []
    private(set) var decisions: [SourceDraft.Decision] = []

    init(sample: Sample, found: SampleRecords, pages: PagesDraft, model: ModelDraft) {
        self.sample = sample
        self.found = found
        self.pages = pages
        self.model = model
    }

    private var entity: ModelDraft.Entity { model.entities[0] }

    mutating func write(problem: String?) {
        let name = sample.origin.name
        let count = DraftWriting.count(found.records.count, "record", "records")
        say("A draft, made of one answer with \(count): read it, then look at what it makes of the service:")
        say("cisternctl check && cisternctl try \(name)/\(name)")
        lines.append("version = 1")
        lines.append("")
        lines.append("[[source]]")
        writeSource()
        writeRemarks(problem)
        for (index, entity) in model.entities.enumerated() where entity.isUsed { write(entity, isFirst: index == 0) }
    }

    private mutating func say(_ text: String) { lines.append(DraftWriting.comment(text)) }

    private mutating func decide(_ subject: String, _ choice: String, key: String? = nil, because reason: String) {
        say(reason)
        if let key { lines.append("\(key) = \(choice)") }
        decisions.append(SourceDraft.Decision(subject: subject, choice: choice, reason: reason))
    }

    // MARK: The source

    private mutating func writeSource() {
        var origin = sample.origin
        if let parameter = pages.replaced { origin.removeParameter(parameter) }
        lines.append("name = \(DraftWriting.quoted(origin.name))")
        if !origin.credentials.isEmpty {
            let names = origin.credentials.map { "/etc/cistern/credentials/\($0.name)" }
            decide(
                "source.credentials", DraftWriting.names(origin.credentials.map(\.name), most: .max),
                because: "Secrets are not written here. Put each into a file of its own: \(names.joined(separator: ", ")).")
        }
        lines += origin.lines
        lines.append("entity = \(DraftWriting.quoted(entity.name))")
        if found.path.segments.isEmpty, !found.isLone {
            decide("source.records", "", because: found.reason)
        } else {
            decide("source.records", DraftWriting.quoted(found.path.description), key: "records", because: found.reason)
        }
        if found.others > 0 {
            let count = DraftWriting.count(found.others, "element of the list is", "elements of the list are")
            decide("source.records", "", because: "\(count) no object, and will be set aside.")
        }
        if let mapKey = entity.mapKey { lines.append("map_key = \(DraftWriting.quoted(mapKey))") }
        decide("source.pages", pages.toml ?? "", key: pages.toml == nil ? nil : "pages", because: pages.reason)
        writeMediaType()
        if found.records.count > SampleReader.mostRecords {
            let limit = found.records.count * 2
            decide(
                "source.limits", "{ max_records_per_page = \(limit) }", key: "limits",
                because: "One page has more records than are taken by default.")
        }
        writeIncrement()
    }

    private mutating func writeMediaType() {
        guard let header = sample.values(of: "content-type").first else { return }
        let type = header.prefix { $0 != ";" }.lowercased().split(separator: " ").joined()
        let isUsual = type == "application/json" || type == "text/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
        let isPlain = type.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "/-+.".utf8.contains(byte)
        }
        guard !isUsual, isPlain, type.utf8.count <= 100, type.split(separator: "/", omittingEmptySubsequences: false).count == 2,
            !type.hasPrefix("/"), !type.hasSuffix("/")
        else { return }
        let types = (SampleOrigin.mediaTypes + [type]).map(DraftWriting.quoted).joined(separator: ", ")
        decide(
            "source.parse", "{ content_types = [\(types)] }", key: "parse", because: "The service calls its JSON \(DraftWriting.quoted(type)).")
    }

    /// What asks for changes only is not known from an answer, so this stays a comment.
    private mutating func writeIncrement() {
        let names = [
            "updated", "updatedat", "updatedon", "updatedtime", "modified", "modifiedat", "modifiedtime", "lastmodified", "lastupdated", "changedat",
        ]
        let attribute = entity.attributes.first { attribute in
            let plain = String((attribute.path.last ?? "").lowercased().filter { $0.isLetter || $0.isNumber })
            return attribute.type == "date" && names.contains(plain)
        }
        guard let attribute else { return }
        var keys = "field = \(MemberPath.quoted(attribute.path)), since = \"updated_since\""
        if let format = attribute.format { keys += ", format = \(DraftWriting.quoted(format))" }
        decide(
            "source.incremental", "",
            because: "Records say when they were changed. If the service can be asked for later ones, look up its parameter and write:")
        say("incremental = { \(keys) }")
    }

    private mutating func writeRemarks(_ problem: String?) {
        if let problem {
            decide("source.parse", "", because: "Something in this answer will be set aside, or make a run fail: \(problem).")
        }
        let validators = ["etag", "last-modified"].filter { !sample.values(of: $0).isEmpty }
        if !validators.isEmpty {
            let names = validators.map { $0 == "etag" ? "ETag" : "Last-Modified" }.joined(separator: " and ")
            decide("source.http.conditional", "", because: "The answer has \(names): a page that has not changed is not sent again.")
        }
    }

    // MARK: The entities

    private mutating func write(_ entity: ModelDraft.Entity, isFirst: Bool) {
        lines.append("")
        lines.append("[entity.\(entity.name)]")
        let keys = entity.attributes.filter(\.isKey).map { DraftWriting.quoted($0.name) }
        let key =
            switch entity.key {
            case .members, .mapName: "[" + keys.joined(separator: ", ") + "]"
            case .content: "\"content\""
            case .single: "\"single\""
            }
        decide("entity.\(entity.name).key", key, key: "key", because: entity.keyReason)
        for (names, reason) in entity.omitted {
            decide("entity.\(entity.name)", "", because: "Left out: \(DraftWriting.names(names)): \(reason).")
        }
        lines.append("")
        lines.append("[entity.\(entity.name).attributes]")
        if isFirst, !entity.attributes.isEmpty {
            say("Any of these may be missing or null, but for the key; a value of another type sets its record aside.")
        }
        var names = Set(entity.attributes.map(\.name) + entity.relationships.map(\.name))
        names.formUnion(entity.attributes.compactMap { $0.path.first } + entity.relationships.compactMap { $0.path.first })
        for attribute in entity.attributes { write(attribute, of: entity.name, among: names) }
        guard !entity.relationships.isEmpty else { return }
        lines.append("")
        lines.append("[entity.\(entity.name).relationships]")
        for relationship in entity.relationships { write(relationship, of: entity.name) }
    }

    private mutating func write(_ attribute: AttributeDraft, of entity: String, among names: Set<String>) {
        var keys: [String] = []
        if !attribute.path.isEmpty, !isFoundByName(attribute, of: entity, among: names) { keys.append("path = \(MemberPath.quoted(attribute.path))") }
        keys.append("type = \(DraftWriting.quoted(attribute.type))")
        if let format = attribute.format { keys.append("format = \(DraftWriting.quoted(format))") }
        if attribute.isKey { keys.append("optional = false") }
        let value = "{ " + keys.joined(separator: ", ") + " }"
        var line = "\(attribute.name) = \(value)"
        if let remark = attribute.remark {
            line += "  " + DraftWriting.comment(remark)
            decisions.append(SourceDraft.Decision(subject: "entity.\(entity).attributes.\(attribute.name)", choice: value, reason: remark))
        }
        lines.append(line)
    }

    /// Whether the attribute's name alone leads to its member, and cannot lead to another one.
    private func isFoundByName(_ attribute: AttributeDraft, of entity: String, among names: Set<String>) -> Bool {
        guard attribute.path == [attribute.name], attribute.name != "remoteID", attribute.name != "remote_id" else { return false }
        let candidates = Set(NameMatch.candidates(for: attribute.name, in: entity))
        return !names.contains { name in
            name != attribute.name && (candidates.contains(name) || !candidates.isDisjoint(with: NameMatch.candidates(for: name, in: entity)))
        }
    }

    private mutating func write(_ relationship: RelationshipDraft, of entity: String) {
        let target = model.entities[relationship.target].name
        var keys = ["to = \(DraftWriting.quoted(target))", "path = \(MemberPath.quoted(relationship.path))"]
        if relationship.isMany { keys.append("many = true") }
        keys.append("match = \"embedded\"")
        let value = "{ " + keys.joined(separator: ", ") + " }"
        decide(
            "entity.\(entity).relationships.\(relationship.name)", value, key: relationship.name,
            because: relationship.isMany ? "A list of objects that each say which one they are." : "An object that says which one it is.")
    }
}
