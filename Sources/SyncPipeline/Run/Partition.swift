import Foundation
import OpenCoreData
import SyncConfiguration

/// A part of a resource with `for_each`: a list of its own.
struct Partition: Sendable {
    /// What it is called: the value, the key of the object, or for one without a key what templates take of it.
    fileprivate(set) var name: String
    /// What the places of templates are.
    fileprivate(set) var values: [Template.Reference: Value] = [:]

    enum Value: Sendable, Hashable {
        case text(String)
        case attribute(AttributeValue)
        case object(entity: String, key: UniqueKey)
        /// Seconds since 2001, and how they are written where nothing else is said.
        case time(Double, DateFormat)

        /// As it stands in a text; nil where there is nothing.
        func text(in form: Template.Form?) -> String? {
            switch (self, form) {
            case (.time(let seconds, _), .date(let format)?), (.attribute(.date(let seconds)), .date(let format)?),
                (.time(let seconds, _), .text(let format?)?), (.attribute(.date(let seconds)), .text(let format?)?):
                DateWriting.text(seconds, format: format)
            case (_, .piece(let separator, let number)?): text.flatMap { Self.piece(number, of: $0, between: separator) }
            case (_, nil), (_, .segment?), (_, .date?), (_, .text?): text
            }
        }

        /// As it stands in JSON where it is all of a value: what is a number or a truth value is one there, unless a text is asked for.
        ///
        /// - Parameter text: what it is in a text in the same form.
        func json(_ text: String, in form: Template.Form?) -> BodyValue {
            switch (self, form) {
            case (_, .text?), (_, .segment?), (_, .piece?): .text(text)
            case (.attribute(.bool(let flag)), _): .boolean(flag)
            case (.attribute(.int64), _): .number(text)
            case (.attribute(.double(let value)), _) where value.isFinite: .number(text)
            case (.attribute(.decimal(let value)), _) where !value.isNaN: .number(text)
            case (.time(_, let format), nil) where format.isNumber: .number(text)
            case (.time, .date(let format)?) where format.isNumber: .number(text)
            case (.attribute(.date), .date(let format)?) where format.isNumber: .number(text)
            case (.text, _), (.attribute, _), (.object, _), (.time, _): .text(text)
            }
        }

        private var text: String? {
            switch self {
            case .text(let text): text
            case .attribute(let value): value.text
            case .object: nil
            case .time(let seconds, let format): DateWriting.text(seconds, format: format)
            }
        }

        private static func piece(_ number: Int, of text: String, between separator: String) -> String? {
            let pieces = text.split(separator: separator, omittingEmptySubsequences: false), index = number < 0 ? pieces.count + number : number
            return pieces.indices.contains(index) ? String(pieces[index]) : nil
        }
    }

    /// A part by itself.
    init(value: String, as alias: String) {
        name = value
        values[Template.Reference(alias: alias)] = .text(value)
    }

    fileprivate init(name: String) { self.name = name }

    /// The same at a time: with what the times of a run are.
    fileprivate func at(_ times: RunTimes?, _ incremental: IncrementalConfiguration?) -> Partition {
        guard let times else { return self }
        var result = self, format = incremental?.requestFormat ?? .rfc3339
        if incremental?.requestFormat == nil, case .time(let own)? = incremental?.kind { format = own }
        result.values[Template.Reference(alias: "now")] = .time(times.now.timeIntervalSinceReferenceDate, format)
        switch times.since {
        // A token stands in no template: what carries it is known.
        case nil, .token?: break
        case .time(let seconds)?: result.values[Template.Reference(alias: "since")] = .time(seconds, format)
        case .integer(let value)?: result.values[Template.Reference(alias: "since")] = .attribute(.int64(value))
        }
        if let until = times.until { result.values[Template.Reference(alias: "until")] = .time(until, format) }
        return result
    }

    /// What stands at a place.
    /// - Throws: `SyncError` where there is nothing.
    fileprivate func text(_ reference: Template.Reference) throws(SyncError) -> String {
        guard let text = value(reference)?.text(in: reference.form), !text.isEmpty else {
            throw SyncError.page("there is nothing at {\(reference)}: \(reference.path.last ?? reference.alias) has no value")
        }
        return text
    }

    /// What a text in a body becomes.
    /// - Throws: as `text(_:)` does.
    fileprivate func bodyValue(_ template: Template) throws -> BodyValue {
        guard let only = template.only else { return .text(try template.filled { try text($0) }) }
        let written = try text(only)
        return value(only)?.json(written, in: only.form) ?? .text(written)
    }

    private func value(_ reference: Template.Reference) -> Value? {
        var plain = reference
        plain.form = nil
        return values[plain]
    }
}

extension ResourceConfiguration {
    /// The resource of one part, at a time: with all places filled. A parameter that would say from where on is left out where nobody knows.
    ///
    /// - Parameter times: nil: it has no places for times.
    /// - Throws: `SyncError` where a place would be empty, or make another address than the one that was meant.
    func filled(for partition: Partition, at times: RunTimes? = nil) throws -> ResourceConfiguration {
        var result = self
        let partition = partition.at(times, incremental)
        result.partitions = nil
        result.url = try Template(url).filled { try partition.pathText($0) }
        result.parameters = try parameters.compactMap { parameter in
            let template = Template(parameter.value)
            if times?.since == nil, template.references.contains(where: { $0.alias == "since" }) { return nil }
            return QueryParameter(name: parameter.name, value: try template.filled { try partition.text($0) })
        }
        for (name, place) in [(incremental?.since, "since"), (incremental?.until, "until")] {
            guard let name, let value = partition.values[Template.Reference(alias: place)]?.text(in: nil) else { continue }
            result.parameters.removeAll { $0.name == name }
            result.parameters.append(QueryParameter(name: name, value: value))
        }
        for index in http.headers.indices {
            result.http.headers[index].value = try Template(http.headers[index].value).filled { try partition.headerText($0) }
        }
        result.body = try body?.filled { try partition.bodyValue($0) }
        for index in headers.indices { result.headers[index].value = try Template(headers[index].value).filled { try partition.headerText($0) } }
        return result
    }
}

extension Partition {
    /// What a resource without parts has: nothing for a place to be filled with.
    static let none = Partition(name: "")

    /// The text as it stands in the path or the query of an address: what has a meaning there is escaped, but for `/` in what is more than a segment.
    fileprivate func pathText(_ reference: Template.Reference) throws -> String {
        let text = try text(reference)
        let segments = text.split(separator: "/", omittingEmptySubsequences: false), isSegment = reference.form == .segment
        // An address with fewer segments, or other ones, is that of something else.
        if segments.contains(where: { $0 == "." || $0 == ".." }) || !isSegment && segments.contains("") {
            throw SyncError.page("\"\(RemoteText.line(text))\", at {\(reference)}, cannot be part of an address")
        }
        return segments.map { HTTPAddress.encode(String($0)) }.joined(separator: isSegment ? "%2F" : "/")
    }

    fileprivate func headerText(_ reference: Template.Reference) throws -> String {
        let text = try text(reference)
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), text.utf8.count <= 4096 else {
            throw SyncError.page("what is at {\(reference)} cannot be part of a header")
        }
        return text
    }

    /// What the objects of its records have, whatever these say.
    /// - Throws: `SyncError` where a property would have no value, or none of its type.
    func constants(
        of entity: EntityMapping, among mapping: ModelMapping, for resource: ResourceConfiguration, at times: RunTimes? = nil
    ) throws(SyncError) -> RecordConstants {
        let filled = at(times, resource.incremental)
        var constants = RecordConstants()
        constants.setKey(
            of: entity, in: ResourceScope(source: resource.source, resource: resource.name, partition: name.isEmpty ? nil : name))
        if let name = resource.mapKey, let slot = entity.layout.slot(of: name), let attribute = entity.configuration.attribute(named: name) {
            constants.setName(attribute, slot: slot)
        }
        for property in resource.assigned {
            guard let slot = entity.layout.slot(of: property.name) else { continue }
            if case .object(let name, let key)? = property.template.only.flatMap(filled.value), let target = mapping.entities[name] {
                constants.set(slot, to: RecordPacker.Target(mapping: target, key: key))
                continue
            }
            let only = property.template.only.flatMap(filled.value)
            guard let attribute = entity.configuration.attribute(named: property.name) else {
                // A parent that leads to nothing there.
                constants.set(slot, to: .null)
                continue
            }
            if case .attribute(.null)? = only, attribute.isOptional, !entity.keyParts.contains(where: { $0.slot == slot }) {
                constants.set(slot, to: .null)
                continue
            }
            // A value of the same kind needs no text in between.
            if case .attribute(let value)? = only, value.isOf(attribute.type) {
                constants.set(slot, to: value)
            } else {
                do {
                    constants.set(slot, to: try attribute.value(of: try property.template.filled { try filled.text($0) }))
                } catch {
                    throw SyncError.page("set.\(property.name): \((error as? ConversionProblem)?.message ?? error.inWords)")
                }
            }
        }
        return constants
    }
}

extension AttributeValue {
    /// As a template shows it; nil where there is no value.
    fileprivate var text: String? {
        switch self {
        case .null, .data, .objectID: nil
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .date(let seconds):
            Date(timeIntervalSinceReferenceDate: seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: seconds != seconds.rounded()))
        case .string(let text): text
        case .uuid(let uuid): uuid.uuidString.lowercased()
        case .decimal(let value): "\(value)"
        case .object: (plain as? URL)?.absoluteString
        }
    }

    /// Whether it is what an attribute of this type holds.
    fileprivate func isOf(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (.date, .date), (.string, .string), (.uuid, .uuid), (.decimal, .decimal), (.bool, .bool), (.double, .double), (.int64, .int64): true
        default: false
        }
    }
}

/// The objects that a resource has parts for.
struct ParentList {
    let parents: PartitionConfiguration.Parents
    /// What the templates want of them.
    let references: Set<Template.Reference>

    /// The parts of a resource that is one list for each object of another one; nil: it is none.
    init?(of resource: ResourceConfiguration) {
        guard let parents = resource.partitions?.parents else { return nil }
        self.parents = parents
        references = Set(
            (resource.templates + resource.assigned.map(\.template)).flatMap(\.references).map {
                Template.Reference(alias: $0.alias, path: $0.path)
            }
        ).filter { !Template.times.contains($0.alias) }
    }

    /// What is in the store.
    struct Found: Sendable {
        var partitions: [Partition]
        /// Whether the other resource was ever listed to its end.
        var isListed: Bool
    }

    /// The objects that the other resource lists and that are what the predicate says, in the order in which they came. On the context's queue.
    func load(_ mapping: ModelMapping, in worker: NSManagedObjectContext) throws -> Found {
        guard let entity = mapping.entities[parents.entity], let scope = ResourceScope(parents.resource) else {
            throw SyncError.unknownEntity(parents.entity)
        }
        let (listed, isListed) = try listed(scope, entity, in: worker)
        return Found(partitions: try objects(entity, mapping, in: worker, where: listed.contains), isListed: isListed)
    }

    /// The objects that the resource lists, and whether it ever did so to its end.
    private func listed(_ scope: ResourceScope, _ entity: EntityMapping, in worker: NSManagedObjectContext) throws -> (KeyRuns, Bool) {
        var members = KeyCollector(), isListed = false
        for row in try StateRow<ResourceTable>.all(where: [.isEqual(\.source, scope.source), .isEqual(\.resource, scope.resource)], in: worker) {
            if row.scope == scope { isListed = row.completeAt != nil }
            // What a part had that is none any more is listed no longer.
            if row.isRemoved, row.scope != scope { continue }
            members.add(try RunState.members(among: StoredKeys.entries(of: row.scope, in: worker), scope: row.scope, entity: entity.name, in: worker))
        }
        return (members.keys, isListed)
    }

    /// The objects with certain primary keys that are what the predicate says.
    func objects(
        _ entity: EntityMapping, _ mapping: ModelMapping, in worker: NSManagedObjectContext, where isListed: (Int64) -> Bool
    ) throws -> [Partition] {
        var plan = FetchPlan(entity: entity.entity)
        plan.includesSubentities = false
        plan.predicate = try Self.predicate(of: parents)?.node
        let rows = try worker.fetch(plan).compactMap { found in found.row.map { (id: found.id, row: $0) } }.filter { id, row in
            isListed(id.key) && row[entity.bookkeeping.deletedAt].isNull && row[entity.bookkeeping.stub] != .bool(true)
        }.sorted { $0.id.key < $1.id.key }
        return try partitions(rows, entity, mapping, in: worker)
    }

    private func partitions(
        _ rows: [(id: NSManagedObjectID, row: RowSnapshot)], _ entity: EntityMapping, _ mapping: ModelMapping, in worker: NSManagedObjectContext
    ) throws -> [Partition] {
        var result = rows.map { Partition(name: Self.name($0.row, entity)) }
        for reference in references {
            var current: [RowSnapshot?] = rows.map(\.row), place = entity, isValue = false
            for name in reference.path {
                guard let slot = place.layout.slot(of: name) else { break }
                if place.configuration.relationship(named: name) == nil {
                    for (index, row) in current.enumerated() { result[index].values[reference] = .attribute(row?[slot] ?? .null) }
                    isValue = true
                    break
                }
                let targets = current.map { $0?[slot].objectID }
                let found = try worker.currentRows(targets.compactMap { $0 })
                current = targets.map { $0.flatMap { found[$0] } }
                guard let next = place.configuration.relationship(named: name).flatMap({ mapping.entities[$0.destination] }) else { break }
                place = next
            }
            if isValue { continue }
            for (index, row) in current.enumerated() {
                result[index].values[reference] = row.flatMap { place.layout.constraints[0].key(of: $0) }.map { .object(entity: place.name, key: $0) }
            }
        }
        return entity.configuration.derivedKey == .content ? named(result) : result
    }

    /// The same parts, called after what templates take of their objects. An object without a key that changes is another one, and both may be listed:
    /// what is asked for is the same, so it is one part, and stays that whatever becomes of either.
    private func named(_ parts: [Partition]) -> [Partition] {
        let places = references.sorted { $0.description < $1.description }
        var seen: Set<String> = []
        return parts.compactMap { part in
            let texts = places.compactMap { place -> String? in
                switch part.values[place] {
                // In no text, so that it is taken for none.
                case nil, .attribute(.null)?: "\u{0}"
                case let value?: value.text(in: nil)
                }
            }
            guard !places.isEmpty, texts.count == places.count else { return part }
            var part = part
            part.name = Self.name(texts)
            return seen.insert(part.name).inserted ? part : nil
        }
    }

    /// The object's key, as people know it.
    private static func name(_ row: RowSnapshot, _ entity: EntityMapping) -> String {
        name((entity.layout.constraints[0].key(of: row)?.values ?? []).map { $0.text ?? "" })
    }

    private static func name(_ parts: [String]) -> String {
        let text = parts.count == 1 ? parts[0] : parts.map { HTTPAddress.encode($0) }.joined(separator: ",")
        let isShown = !text.isEmpty && text.utf8.count <= 256 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        return isShown ? text : BodyDigest(of: text).description
    }

    /// What objects have to be; nil: all are meant.
    /// - Throws: `SyncError` if it is no predicate.
    static func predicate(of parents: PartitionConfiguration.Parents) throws(SyncError) -> NSPredicate? {
        guard let filter = parents.filter else { return nil }
        do { return try NSPredicate.parse(filter) } catch { throw SyncError.page("for_each.where: \(error)") }
    }
}
