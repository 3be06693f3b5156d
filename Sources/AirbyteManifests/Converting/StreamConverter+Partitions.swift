/// What there are parts for.
extension StreamConverter {
    func convertPartitions(of retriever: Component) throws {
        let routers = try retriever.components("partition_router", "PartitionRouter")
        if routers.isEmpty { return }
        hasParts = true
        let isList = routers.allSatisfy { $0.type == "ListPartitionRouter" }
        if isList { return try convertLists(routers) }
        let value = try retriever.value("partition_router"), isOfParents = routers.allSatisfy { $0.type == "SubstreamPartitionRouter" }
        if isOfParents, routers.count == 2 { return try convertChain(routers, value) }
        guard isOfParents, routers.count == 1 else {
            let what = Set(routers.map(\.type)).sorted().joined(separator: ", ")
            return findings.refuse("partition_router", value, "parts of this kind, or of several kinds at once, cannot be said: \(what)")
        }
        try convertParents(routers[0])
    }

    // MARK: Lists of values

    private func convertLists(_ routers: [Component]) throws {
        var lists: [[String]] = [], names: [String] = []
        for router in routers {
            expect(router, handled: ["values", "cursor_field", "request_option"])
            let evaluator = evaluator(for: router)
            guard let values = try router.value("values"), let field = try router.value("cursor_field") else {
                return findings.refuse("partition_router", named(router), "values and cursor_field are needed")
            }
            names.append(try constant(field, in: router))
            guard let list = findings.refusing("partition_router.values", values, { try texts(of: values, evaluator) }) else { return }
            lists.append(list)
        }
        guard lists.allSatisfy({ !$0.isEmpty }) else { return findings.refuse("partition_router.values", nil, "the list is empty") }
        var plan = PartitionPlan(alias: PartitionPlan.alias(routers.count == 1 ? names[0] : "part"))
        var values = lists[0]
        if lists.count == 1 {
            plan.fields[names[0]] = plan.alias
        } else {
            guard !lists.joined().contains(where: { $0.contains("|") || $0.contains("}") }) else {
                return findings.refuse("partition_router.values", nil, "several lists whose values have \"|\" or \"}\" in them cannot be said")
            }
            guard lists.reduce(1, { min($0 * $1.count, 1_000_000) }) <= 1000 else {
                return findings.refuse("partition_router.values", nil, "there are too many combinations to be written out")
            }
            for list in lists.dropFirst() { values = values.flatMap { value in list.map { "\(value)|\($0)" } } }
            for (number, name) in names.enumerated() { plan.fields[name] = "\(plan.alias):split(|,\(number))" }
        }
        for (list, name) in zip(lists, names) where list.allSatisfy({ Double($0) != nil }) {
            if let place = plan.fields[name] { plan.numbers.insert(place) }
        }
        var seen: Set<String> = []
        draft.partitions["values"] = .texts(values.filter { seen.insert($0).inserted })
        draft.partitions["as"] = .text(plan.alias)
        partition = plan
        for (router, name) in zip(routers, names) { pendingOptions.append((router, "request_option", plan.fields[name] ?? plan.alias)) }
    }

    /// A list that is written out, or that the user gives.
    private func texts(of value: ManifestValue, _ evaluator: Evaluator) throws -> [String] {
        let term: Term
        if let list = value.list {
            term = .list(try list.map { try evaluator.term(context.manifest.resolved($0)) })
        } else {
            let whole = try evaluator.term(value)
            if case .text(let text) = whole, let literal = PythonLiteral.value(text) { term = literal } else { term = whole }
        }
        guard case .list(let elements) = term else { throw Unsayable("a list that is known before a run was expected") }
        return try elements.map { element in
            guard let text = element.constantText, !text.isEmpty else {
                throw Unsayable("its values have to be known before a run, and none may be empty")
            }
            return text
        }
    }

    // MARK: Parents

    /// What a router says of the stream whose objects there are parts for.
    private struct ParentRouter {
        let configuration: Component
        let stream: Component
        /// The names that lead to what the parts are known by.
        let key: [String]
        /// What expressions call it.
        let field: String
    }

    /// - Returns: nil where it was refused.
    private func parentRouter(_ router: Component) throws -> ParentRouter? {
        expect(router, handled: ["parent_stream_configs"])
        let configurations = try router.components("parent_stream_configs", "ParentStreamConfig")
        guard configurations.count == 1, let configuration = configurations.first else {
            findings.refuse(
                "partition_router.parent_stream_configs", nil, line: router.line, "parts for the objects of several streams cannot be said")
            return nil
        }
        expect(
            configuration,
            handled: ["stream", "parent_key", "partition_field", "request_option", "incremental_dependency", "extra_fields", "lazy_read_pointer"])
        if let pointer = try configuration.value("lazy_read_pointer"), pointer.isTruthy {
            findings.refuse("ParentStreamConfig.lazy_read_pointer", pointer, "lists inside of a parent's records cannot be read in this way")
        }
        guard let stream = try configuration.component("stream", "DeclarativeStream"), let key = try configuration.value("parent_key"),
            let field = try configuration.value("partition_field")
        else {
            findings.refuse("partition_router", named(configuration), "stream, parent_key and partition_field are needed")
            return nil
        }
        return ParentRouter(
            configuration: configuration, stream: stream, key: try constant(key, in: configuration).split(separator: "/").map(String.init),
            field: try constant(field, in: configuration))
    }

    private func convertParents(_ router: Component) throws {
        guard let router = try parentRouter(router), let parent = context.parent(router.stream, findings) else { return }
        try take(router, parent)
    }

    /// Has the resource parts for what a parent lists.
    private func take(_ router: ParentRouter, _ parent: ResourceDraft) throws {
        let configuration = router.configuration
        if try configuration.flag("incremental_dependency") {
            findings.remark(
                "ParentStreamConfig.incremental_dependency", try configuration.value("incremental_dependency"),
                "the parts of all parents are asked for, and not only of those that have changed")
        }
        var plan = PartitionPlan(alias: PartitionPlan.alias(Names.singular(parent.stream).lowercased()))
        if parent.attribute(for: router.key)?.type == "json", try configuration.value("request_option")?.isTruthy != true {
            // Only what is inside of it can be asked for.
            plan.objects[router.field] = router.key
        } else {
            let place = try place(router.key, of: parent, &plan)
            plan.fields[router.field] = place
            pendingOptions.append((configuration, "request_option", place))
        }
        for extra in try configuration.value("extra_fields")?.list ?? [] {
            let names = try self.names(extra, in: configuration)
            plan.extraFields[names.joined(separator: ".")] = try self.place(names, of: parent, &plan)
        }
        draft.parent = parent
        draft.partitions["as"] = .text(plan.alias)
        partition = plan
    }

    /// Combinations of what two streams list, one of which has parts for what the other lists: those that belong together are its own objects.
    private func convertChain(_ routers: [Component], _ value: ManifestValue?) throws {
        var links: [(router: ParentRouter, parent: ResourceDraft)] = []
        for router in routers {
            guard let router = try parentRouter(router), let parent = context.parent(router.stream, findings) else { return }
            links.append((router, parent))
        }
        let (first, second) = (links[0], links[1])
        guard first.parent.parent === second.parent || second.parent.parent === first.parent else {
            return findings.refuse("partition_router", value, "the combinations of what two streams list cannot be said")
        }
        let (outer, inner) = second.parent.parent === first.parent ? (first, second) : (second, first)
        guard case .text(let alias)? = inner.parent.partitions["as"], try outer.router.configuration.value("extra_fields")?.isTruthy != true,
            let attribute = outer.parent.attribute(for: outer.router.key), attribute.type != "json"
        else { return findings.refuse("partition_router", value, "the combinations of what two streams list cannot be said") }
        try take(inner.router, inner.parent)
        let place = kept("\(alias).\(attribute.name)", [outer.router.field], by: inner.parent)
        partition?.fields[outer.router.field] = place
        if ["decimal", "int64", "double"].contains(attribute.type) { partition?.numbers.insert(place) }
        pendingOptions.append((outer.router.configuration, "request_option", place))
        findings.remark("partition_router", value, "of the combinations of both, those are asked for that belong together")
    }

    /// The place for a field of a parent's records; the parent gets an attribute for it.
    private func place(_ names: [String], of parent: ResourceDraft, _ plan: inout PartitionPlan) throws -> String {
        guard let attribute = parent.attribute(for: names) else { throw Unsayable("the field of the parent has no name") }
        guard attribute.type != "json" else {
            throw Unsayable("\(names.joined(separator: ".")) of \(parent.stream) is a list or an object, and no part of a request")
        }
        let place = "\(plan.alias).\(attribute.name)"
        if ["decimal", "int64", "double"].contains(attribute.type) { plan.numbers.insert(place) }
        return place
    }

    /// The place for something inside of an object of the parent's records; nil: no field of a slice is one.
    func innerPlace(_ root: Term.Reference.Root, _ keys: [String]) throws -> String? {
        guard root == .partition, var plan = partition, let parent = draft.parent, let first = keys.first, let names = plan.objects[first] else {
            return nil
        }
        guard keys.count > 1 else { throw Unsayable("\(first) is a list or an object, and no part of a request") }
        let place = try place(names + keys.dropFirst(), of: parent, &plan)
        plan.fields[keys.joined(separator: ".")] = place
        partition = plan
        return place
    }

    /// A field of a slice that no part has. Where parts cannot be said, that has been told.
    var unknownSlice: Unsayable {
        Unsayable("it is not known what is meant by that part of a slice", isConsequence: hasParts && partition == nil)
    }

    /// The place for what the parent is a part of: it keeps that in an attribute of its own.
    func grandparentPlace(_ keys: [String]) throws -> String {
        guard partition != nil, let parent = draft.parent, let inner = context.slices[parent.name]?[keys.joined(separator: ".")] else {
            throw unknownSlice
        }
        return kept(inner, keys, by: parent)
    }

    /// The place for something of what a parent is a part of, which it keeps in an attribute of its own.
    private func kept(_ inner: String, _ keys: [String], by parent: ResourceDraft) -> String {
        let template = TOMLValue.text("{\(inner)}"), alias = partition?.alias ?? ""
        if let known = parent.assigned.entries.first(where: { $0.value == template }) { return "\(alias).\(known.key)" }
        let name = parent.entity.add("parent_\(keys.joined(separator: "_"))", paths: [], type: "string")
        parent.assigned[name] = template
        return "\(alias).\(name)"
    }
}
