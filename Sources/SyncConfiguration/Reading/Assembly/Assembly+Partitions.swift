/// What a resource's parts are, and whether templates name what there is.
extension Assembly {
    /// A resource whose `for_each`, or whose templates, can be checked once all resources are known.
    struct TemplatedResource {
        let scope: String
        /// The table `for_each`; without a node where there is none.
        let partitions: Layer
        /// The table `incremental`; without a node where there is none.
        let incremental: Layer
        let own: Layer
        let origins: [String: DocumentNode.Place]

        /// Where its body has templates.
        var bodyKey: String { ["json", "form"].first { own.node?.table?[$0] != nil || origins[$0] != nil } ?? "variables" }
    }

    /// What `for_each` says; the entity of parents is filled in by `checkTemplates`.
    ///
    /// - Parameter layers: the defaults, which have none, the source and the resource, of which the last one that says something counts.
    func partitions(_ source: String, _ layers: [Layer]) -> ReadPartitions {
        let layer = layers.dropFirst().last { $0.table("for_each").node != nil }?.table("for_each") ?? Layer(node: nil, subject: .root)
        let (table, origins) = resolve(PartitionTable.self, [layer])
        return ReadPartitions(value: value(of: table, layer, source), layer: layer, table: table, origins: origins)
    }

    struct ReadPartitions {
        let value: PartitionConfiguration?
        let layer: Layer
        let table: PartitionTable
        let origins: [String: DocumentNode.Place]
    }

    private func value(of table: PartitionTable, _ layer: Layer, _ source: String) -> PartitionConfiguration? {
        guard let node = layer.node, let keys = node.table else { return nil }
        if let both = keys["resource"], keys["values"] != nil {
            complaints.add(at: both.place, layer.subject, key: "resource", "resource and values cannot be used together", "remove one of them")
        }
        if let stray = keys["where"], keys["values"] != nil {
            complaints.add(
                at: stray.place, layer.subject, key: "where", "values are texts, and no predicate is asked of them", "leave out values instead")
        }
        if keys["resource"] == nil, keys["values"] == nil {
            complaints.add(
                at: node.place, layer.subject, "for_each says neither what resource nor what values",
                "write for_each = { resource = \"repos\", as = \"repo\" }")
        }
        if keys["as"] == nil {
            complaints.add(at: node.place, layer.subject, key: "as", "\"as\" is missing", "write as = \"…\", the name that templates use")
        }
        guard let alias = table.alias else { return nil }
        if Template.times.contains(alias) {
            complaints.add(
                at: keys["as"]?.place ?? node.place, layer.subject, key: "as", "{\(alias)} is a time of a run in every template",
                "choose another name")
        }
        if let values = table.values { return PartitionConfiguration(as: alias, .values(values)) }
        guard let resource = table.resource else { return nil }
        var parents = PartitionConfiguration.Parents(resource: resource.contains("/") ? resource : "\(source)/\(resource)", entity: "")
        parents.filter = table.filter
        return PartitionConfiguration(as: alias, .parents(parents))
    }

    /// Looks up what all resources with templates refer to.
    mutating func checkTemplates(_ sources: inout [SourceConfiguration], model: ModelConfiguration) {
        let resources = sources.flatMap(\.resources), entities = Dictionary(resources.map { ($0.scope, $0.entity) }) { first, _ in first }
        let deletions = Set(resources.filter { $0.deletion.detect == .records }.map(\.scope))
        let places = Dictionary(templated.map { ($0.scope, $0) }) { first, _ in first }
        for source in sources.indices {
            for resource in sources[source].resources.indices {
                guard let place = places[sources[source].resources[resource].scope] else { continue }
                check(&sources[source].resources[resource], place, entities, deletions: deletions, model)
            }
        }
        checkCircles(sources, places)
    }

    private func check(
        _ resource: inout ResourceConfiguration, _ place: TemplatedResource, _ entities: [String: String], deletions: Set<String>,
        _ model: ModelConfiguration
    ) {
        if var partitions = resource.partitions, var parents = partitions.parents {
            guard let entity = entities[parents.resource] else {
                return complaints.add(
                    at: place.partitions.node?.table?["resource"]?.place, place.partitions.subject, key: "resource",
                    "there is no resource \"\(parents.resource)\"",
                    suggestion(for: parents.resource, among: entities.keys.sorted(), kind: "known resources"))
            }
            if deletions.contains(parents.resource) {
                complaints.add(
                    at: place.partitions.node?.table?["resource"]?.place, place.partitions.subject, key: "resource",
                    "\(parents.resource) lists what is gone, and there is nothing that could have a part", "name the resource that lists the objects")
            }
            parents.entity = entity
            partitions.kind = .parents(parents)
            resource.partitions = partitions
        }
        let lookup = TemplateLookup(partitions: resource.partitions, incremental: resource.incremental, model: model)
        func complain(_ key: String, _ problem: TemplateLookup.Problem) {
            complaints.add(
                at: place.origins[key] ?? place.own.node?.table?[key]?.place, place.own.subject, key: key, problem.message, problem.suggestion)
        }
        func check(_ text: String, _ key: String) {
            let template = Template(text)
            for reference in template.references { if let problem = lookup.problem(inText: reference) { complain(key, problem) } }
            if let problem = lookup.problem(withPlacesOf: template) { complain(key, problem) }
        }
        check(resource.url, place.own.node?.table?["url"] != nil ? "url" : "path")
        for parameter in resource.parameters { check(parameter.value, "params") }
        for field in resource.headers { check(field.value, "headers") }
        for field in resource.http.headers { check(field.value, "http") }
        for template in resource.body?.templates ?? [] { check(template.description, place.bodyKey) }
        checkIncremental(resource, place.incremental)
        guard let entity = model.entity(named: resource.entity) else { return }
        for assigned in resource.assigned {
            if let problem = lookup.problem(with: assigned, of: entity) { complain("set", problem) }
        }
    }

    /// Whether requests say what `incremental` is about, and can do so in the first run.
    private func checkIncremental(_ resource: ResourceConfiguration, _ layer: Layer) {
        guard let incremental = resource.incremental, incremental.token == nil, let node = layer.node else { return }
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: node.table?[key]?.place ?? node.place, layer.subject, key: key, message, suggestion)
        }
        let places = Set(resource.templates.flatMap(\.references).map(\.alias))
        let saysSince = incremental.since != nil || places.contains("since"), saysUntil = incremental.until != nil || places.contains("until")
        if !saysSince, incremental.order != .descending {
            complain(
                "since", "no request says from where on",
                "write since = \"…\", the service's parameter, or {since} in params, path, a header or the body (json, form, variables); "
                    + "or order = \"desc\"")
        }
        if incremental.window != nil, !saysUntil {
            complain("window", "no request says up to where, so steps cannot be asked for", "write until = \"…\", or {until} where it belongs")
        }
        if incremental.field == nil, !saysUntil {
            complain("field", "\"field\" is missing", "write field = \"$.updated_at\", where a record holds how new it is")
        }
        if resource.deletion.detect == .snapshot {
            let remedy = "use deletion.detect = \"none\", or ask without it"
            if saysUntil || incremental.window != nil {
                complain(
                    "until", "a listing with an end misses what changes while it is read, and deletion.detect = \"snapshot\" would remove that",
                    remedy)
            }
            if case .ago? = incremental.start {
                complain("start", "what is older than that is not listed, and deletion.detect = \"snapshot\" would remove it", remedy)
            }
        }
        guard incremental.start == nil else { return }
        let headers = (resource.headers + resource.http.headers).map { Template($0.value) }
        let fixed = [Template(resource.url)] + headers + (resource.body?.templates ?? [])
        let needed = Set(fixed.flatMap(\.references).map(\.alias))
        if saysUntil || needed.contains("since") {
            let reason = saysUntil ? "a range has two ends" : "{since} is more than a parameter that may be left out"
            complain("start", "\"start\" is missing: \(reason), and the first run has to say from where on", "write start = \"2020-01-01T00:00:00Z\"")
        }
    }

    /// No resource has itself, or what it has parts for, among the parents of its own.
    private func checkCircles(_ sources: [SourceConfiguration], _ places: [String: TemplatedResource]) {
        let parents = Dictionary(
            sources.flatMap(\.resources).compactMap { resource in resource.partitions?.parents.map { (resource.scope, $0.resource) } }
        ) { first, _ in first }
        for scope in parents.keys.sorted() {
            var seen: [String] = [], next: String? = scope
            while let current = next, !seen.contains(current) {
                seen.append(current)
                next = parents[current]
            }
            guard next == scope, let place = places[scope] else { continue }
            complaints.add(
                at: place.partitions.node?.table?["resource"]?.place, place.partitions.subject, key: "resource",
                seen.count == 1 ? "\(scope) has parts for its own objects" : "\((seen + [scope]).joined(separator: " has parts for what is in "))",
                "name a resource that is listed without this one")
        }
    }
}

/// What the places of templates mean in a resource.
struct TemplateLookup {
    let partitions: PartitionConfiguration?
    let incremental: IncrementalConfiguration?
    let model: ModelConfiguration

    struct Problem {
        let message: String
        let suggestion: String
    }

    /// What a place stands for.
    private enum Meaning {
        case text
        case time
        case attribute(AttributeConfiguration)
        case object(EntityConfiguration)
    }

    private func meaning(_ reference: Template.Reference) -> Result<Meaning, Refusal> {
        if Template.times.contains(reference.alias) {
            guard reference.path.isEmpty else {
                return .failure(Refusal("{\(reference)}: a time has no properties", "write {\(reference.alias)}"))
            }
            guard reference.alias != "now" else { return .success(.time) }
            guard let incremental else {
                return .failure(
                    Refusal(
                        "{\(reference)}: the resource has no \"incremental\", and asks for everything each time",
                        "write incremental = { field = \"$.updated_at\", … }; if the text is meant: {{\(reference)}}"))
            }
            if incremental.token != nil {
                return .failure(Refusal("{\(reference)}: kind = \"token\" knows no times", "remove it: param says what carries the token"))
            }
            guard incremental.kind == .integer else { return .success(.time) }
            return reference.alias == "since"
                ? .success(.text) : .failure(Refusal("{\(reference)}: kind = \"integer\" has no end", "remove it, or use kind = \"time\""))
        }
        guard let partitions, partitions.alias == reference.alias else {
            let known = partitions.map { SyncConfiguration.suggestion(for: reference.alias, among: [$0.alias], kind: "known names") }
            return .failure(
                Refusal(
                    "{\(reference)}: nothing is called \"\(reference.alias)\" here",
                    known ?? "write for_each = { …, as = \"\(reference.alias)\" }; if the text is meant: {{\(reference)}}"))
        }
        guard let parents = partitions.parents else {
            guard reference.path.isEmpty else {
                return .failure(Refusal("{\(reference)}: \"\(reference.alias)\" is a text and has no properties", "write {\(reference.alias)}"))
            }
            return .success(.text)
        }
        guard var entity = model.entity(named: parents.entity) else {
            return .failure(Refusal("there is no entity \"\(parents.entity)\"", "declare it"))
        }
        for (number, name) in reference.path.enumerated() {
            if let attribute = entity.attribute(named: name), number == reference.path.count - 1 { return .success(.attribute(attribute)) }
            if let relationship = entity.relationship(named: name) {
                guard !relationship.isToMany else {
                    return .failure(Refusal("{\(reference)}: \"\(name)\" leads to many objects", "use a to-one"))
                }
                guard let next = model.entity(named: relationship.destination) else { break }
                entity = next
                continue
            }
            let isAttribute = entity.attribute(named: name) != nil
            return .failure(
                Refusal(
                    isAttribute
                        ? "{\(reference)}: \"\(name)\" is an attribute, and nothing follows it" : "{\(reference)}: \(entity.name) has no \"\(name)\"",
                    isAttribute
                        ? "end with it"
                        : SyncConfiguration.suggestion(
                            for: name, among: entity.attributes.map(\.name) + entity.relationships.filter { !$0.isToMany }.map(\.name),
                            kind: "known properties")))
        }
        return .success(.object(entity))
    }

    /// What is wrong with a place in a text; nil: nothing.
    func problem(inText reference: Template.Reference) -> Problem? {
        switch meaning(reference) {
        case .failure(let refusal): return refusal.problem
        case .success(.text): return problem(withFormOf: reference, isTime: false)
        case .success(.time): return problem(withFormOf: reference, isTime: true)
        case .success(.attribute(let attribute)):
            guard attribute.type.mayBeText else {
                return Problem(
                    message: "{\(reference)}: a value of type \(attribute.type) cannot be part of a text", suggestion: "use another attribute")
            }
            return problem(withFormOf: reference, isTime: attribute.type == .date)
        case .success(.object(let entity)):
            return Problem(
                message: "{\(reference)} is an object of \(entity.name), and no text",
                suggestion: "write {\(reference).\(entity.key.first ?? "id")}, or another of its attributes")
        }
    }

    private func problem(withFormOf reference: Template.Reference, isTime: Bool) -> Problem? {
        switch reference.form {
        case .date where !isTime, .text(_?) where !isTime:
            Problem(
                message: "{\(reference)}: only a time can be written in a format of times",
                suggestion: "write {\(([reference.alias] + reference.path).joined(separator: "."))}")
        case .piece where isTime:
            Problem(message: "{\(reference)}: a time is not split", suggestion: "write the part that is meant as a format, such as %Y")
        case nil, .segment, .date, .piece, .text: nil
        }
    }

    /// What is wrong with something that was meant as a place and is none; nil: nothing.
    func problem(withPlacesOf template: Template) -> Problem? {
        let names = Template.times.union(partitions.map { [$0.alias] } ?? [])
        return template.malformedPlace(named: names.sorted()).map { place in
            Problem(
                message: "\(place): what follows the colon is no form",
                suggestion: "write segment, text, split(-,0), rfc3339, unix, unix-ms, unix-us, http-date or a pattern such as %Y-%m-%d")
        }
    }

    /// What is wrong with a property that is set; nil: nothing.
    func problem(with assigned: AssignedProperty, of entity: EntityConfiguration) -> Problem? {
        let isStepped = incremental?.window != nil
        if let time = assigned.template.references.first(where: { $0.alias == "now" || Template.times.contains($0.alias) && !isStepped }) {
            return Problem(
                message: "{\(time)}: a property that changes with every run would change every object",
                suggestion: time.alias == "now" ? "set another property" : "write incremental.window, whose steps have a beginning and an end")
        }
        if let attribute = entity.attribute(named: assigned.name) {
            guard attribute.type.mayBeText else {
                return Problem(message: "\(assigned.name) has the type \(attribute.type), which cannot be set", suggestion: "set another attribute")
            }
            return assigned.template.references.lazy.compactMap { problem(inText: $0) }.first
        }
        guard let relationship = entity.relationship(named: assigned.name) else {
            return Problem(
                message: "\(entity.name) has no \"\(assigned.name)\"",
                suggestion: SyncConfiguration.suggestion(
                    for: assigned.name, among: entity.attributes.map(\.name) + entity.relationships.filter { !$0.isToMany }.map(\.name),
                    kind: "known properties"))
        }
        let isAlone = relationship.inverse.name.flatMap { model.entity(named: relationship.destination)?.relationship(named: $0) }?.isToMany ?? true
        guard !relationship.isToMany, isAlone else {
            return Problem(
                message: "\(assigned.name) is not a to-one whose other side may have many objects", suggestion: "set such a to-one, or an attribute")
        }
        guard let reference = assigned.template.only else {
            return Problem(
                message: "\(assigned.name) leads to one \(relationship.destination), and \"\(assigned.template)\" is a text",
                suggestion: "write \(assigned.name) = \"{\(partitions?.alias ?? "parent")}\"")
        }
        switch meaning(reference) {
        case .failure(let refusal): return refusal.problem
        case .success(.object(let found)) where found.name == relationship.destination: return nil
        case .success(.object(let found)):
            return Problem(
                message: "\(assigned.name) leads to one \(relationship.destination), and {\(reference)} is one \(found.name)",
                suggestion: "set a to-one to \(found.name)")
        case .success(.text), .success(.time), .success(.attribute):
            return Problem(
                message: "\(assigned.name) leads to one \(relationship.destination), and {\(reference)} is a value",
                suggestion: "write \(assigned.name) = \"{\(reference.alias)}\"")
        }
    }

    private struct Refusal: Error {
        let problem: Problem

        init(_ message: String, _ suggestion: String) { problem = Problem(message: message, suggestion: suggestion) }
    }
}

extension AttributeType {
    /// Whether its values can be written in a text, and read from one.
    fileprivate var mayBeText: Bool {
        switch self {
        case .int16, .int32, .int64, .decimal, .double, .bool, .string, .date, .uuid, .uri: true
        case .data, .json: false
        }
    }
}
