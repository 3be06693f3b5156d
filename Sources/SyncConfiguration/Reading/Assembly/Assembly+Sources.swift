extension Assembly {
    /// Every source, in the order of the files.
    mutating func assembleSources(_ top: Layer, defaults: Layer, model: ModelConfiguration) -> [SourceConfiguration] {
        var sources: [SourceConfiguration] = []
        var names: [String: DocumentNode.Place] = [:]
        modelIndex = ModelIndex(model)
        for (index, node) in elements(top.node?.table?["source"], "source", Subject.root.key("source")).enumerated() {
            let name = node.table?["name"]?.string
            let subject = Subject.root.element("source", name, number: index + 1)
            checkName("source", name, node, subject, among: &names)
            if let source = assembleSource(Layer(node: node, subject: subject), defaults: defaults, model: model) { sources.append(source) }
        }
        checkTemplates(&sources, model: model)
        return sources
    }

    private mutating func assembleSource(_ layer: Layer, defaults: Layer, model: ModelConfiguration) -> SourceConfiguration? {
        guard let table = layer.node?.table else { return nil }
        let (source, origins) = resolve(SourceTable.self, [layer])
        let values = source.values
        var result = SourceConfiguration(name: values.name ?? "")
        result.isEnabled = values.isEnabled
        if let resources = table["resource"] {
            for key in ["url", "path", "entity", "key", "map_key"] {
                guard let place = origins[key] else { continue }
                let hint = key == "url" ? "write base_url here and path in each [[source.resource]]" : "move it into [[source.resource]]"
                complaints.add(at: place, layer.subject, key: key, "\"\(key)\" and [[source.resource]] cannot be used together", hint)
            }
            if table["base_url"] == nil {
                complaints.add(
                    at: layer.node?.place, layer.subject, key: "base_url", "\"base_url\" is missing",
                    "write base_url = \"https://api.example.com\"")
            }
            var settings: [ResolvedConfiguration.Setting] = []
            let path = layer.subject.keyPath
            if let name = values.name { settings.append(setting("name", path: path, tomlQuoted(name), origin(of: "name", origins))) }
            settings.append(setting("enabled", path: path, "\(values.isEnabled)", origin(of: "enabled", origins)))
            if let base = values.baseURL {
                settings.append(setting("base_url", path: path, tomlQuoted(base), origin(of: "base_url", origins)))
            }
            resolved.sections.append(.init(header: "[[source]]", settings: settings))
            var names: [String: DocumentNode.Place] = [:]
            for (index, node) in elements(resources, "source.resource", layer.subject.key("resource")).enumerated() {
                let name = node.table?["name"]?.string
                let subject = layer.subject.element("resource", name, number: index + 1)
                checkName("resource", name, node, subject, among: &names)
                let inner = Layer(node: node, subject: subject)
                var inherited = values
                (inherited.name, inherited.path, inherited.entity, inherited.key, inherited.mapKey, inherited.url) = (nil, nil, nil, nil, nil, nil)
                inherited.isEnabled = true
                inherited.dropBodies(besides: node.table ?? [:])
                var origins = origins.filter { Self.inheritedKeys.contains($0.key) }
                inherited.apply(inner, to: complaints, origins: &origins)
                inherited.dropIdempotence(besides: node.table ?? [:], origins: &origins)
                if let resource = assembleResource(inherited, origins, result, [defaults, layer, inner], model) {
                    result.resources.append(resource)
                }
            }
        } else if let resource = assembleResource(values, origins, result, [defaults, layer], model) {
            result.resources = [resource]
        }
        return result
    }

    /// What of a source's own table its resources have, too.
    private static let inheritedKeys: Set<String> = [
        "records", "params", "headers", "secret_params", "secret_headers", "secret_fields", "success", "empty_statuses", "rate_limited_if",
        "retry_if", "ignore_if", "fail_if", "filter", "set", "method", "json", "form", "query", "query_file", "variables", "idempotent",
        "format", "columns", "unpack", "zip_entry",
    ]

    /// One resource. The layers are the defaults, the source and, in the long form, the resource.
    private mutating func assembleResource(
        _ values: ResourceTable, _ origins: [String: DocumentNode.Place], _ source: SourceConfiguration, _ layers: [Layer],
        _ model: ModelConfiguration
    ) -> ResourceConfiguration? {
        guard let own = layers.last, let table = own.node?.table else { return nil }
        let isShort = layers.count == 2
        let url = resourceURL(values, own, isShort: isShort)
        let entity = resourceEntity(values, own, model)
        let key = values.key ?? entity?.key ?? []
        if let entity, values.key != nil { checkKey(key, of: entity, modelIndex, at: origins["key"], own.subject.key("key")) }

        var resource = ResourceConfiguration(
            name: values.name ?? "", source: source.name, url: url ?? "", entity: values.entity ?? "", key: key)
        resource.isEnabled = source.isEnabled && values.isEnabled
        resource.records = values.records
        resource.mapKey = values.mapKey
        if let entity { checkMapKey(of: entity, values, origins, own) }
        resource.parameters = values.parameters
        resource.headers = values.headers
        resource.secretHeaders = values.secretHeaders
        resource.secretParameters = values.secretParameters
        resource.secretFields = values.secretFields
        resource.success = values.success
        resource.emptyStatuses = values.emptyStatuses
        resource.conditions = values.conditions
        resource.filter = values.filter
        resource.assigned = values.assigned
        let also = mentions(of: resource, layers.dropFirst(), model)
        resource.also = also.value
        assembleRequest(of: &resource, values, origins, own)
        let csvSettings = assembleFormat(of: &resource, values, origins, layers)
        let partitions = partitions(source.name, layers)
        resource.partitions = partitions.value

        let path = own.subject.keyPath
        var settings = resourceSettings(values, origins, source, isShort: isShort, path: path)
        if values.key == nil, !key.isEmpty {
            settings.append(setting("key", path: path, "[" + key.map(tomlQuoted).joined(separator: ", ") + "]", .derived))
        }
        if values.method == nil {
            settings.append(setting("method", path: path, tomlQuoted(resource.method.rawValue), resource.method == .get ? .builtIn : .derived))
        }
        settings += csvSettings
        if let place = also.place { settings.append(setting("also", path: path, resource.also.toml, Self.origin(place))) }
        if resource.partitions != nil {
            settings += self.settings(of: partitions.table, partitions.origins, path: path, prefix: "for_each.")
        }
        func inherit<T: ConfigurationTable>(
            _ type: T.Type, _ name: String, _ known: (value: T, origins: [String: DocumentNode.Place])? = nil
        ) -> (value: T, origins: [String: DocumentNode.Place]) {
            let result = known ?? resolve(type, layers.map { $0.table(name) })
            settings += self.settings(of: result.value, result.origins, path: path, prefix: "\(name).")
            return result
        }
        let schedule = inherit(ScheduleConfiguration.self, "schedule", resolveSchedule(layers.map { $0.table("schedule") }))
        resource.schedule = schedule.value
        resource.http = inherit(HTTPConfiguration.self, "http").value
        resource.tls = inherit(TLSConfiguration.self, "tls", resolveTLS(layers.map { $0.table("tls") })).value
        let retry = inherit(RetryConfiguration.self, "retry")
        resource.retry = retry.value
        let rate = inherit(RateConfiguration.self, "rate"), breaker = inherit(BreakerConfiguration.self, "breaker")
        resource.rate = rate.value
        resource.breaker = breaker.value
        resource.limits = inherit(LimitsConfiguration.self, "limits").value
        let parse = parsePolicy(of: resource, layers)
        resource.parse = parse.value
        settings += self.settings(of: parse.value, parse.origins, path: path, prefix: "parse.")
        let schema = inherit(SchemaConfiguration.self, "schema")
        resource.schema = schema.value
        let deletion = inherit(DeletionConfiguration.self, "deletion")
        resource.deletion = deletion.value

        let auth = authentication(layers, base: values.baseURL ?? url.flatMap(RequestURL.origin), path: path)
        resource.authentication = auth.value
        settings += auth.settings

        let pages = overlay("pages", layers.dropFirst())
        let (pagesTable, pagesOrigins) = resolve(PaginationTable.self, [pages])
        let (stop, stopOrigins) = resolve(PaginationConfiguration.StopRules.self, [pages.table("stop")])
        resource.pagination = pagesTable.configuration(pages, pagesOrigins, stop: stop, of: resource, complaints)
        checkPages(of: resource, values.format, pages)
        if case .graphQL = resource.pagination.kind { resource.isGraphQL = true }
        if let kind = pagesTable.kind, kind != .none {
            settings += self.settings(
                of: pagesTable, pagesOrigins, path: path, prefix: "pages.", only: ["kind", "repeat_guard"] + kind.keys)
            settings += self.settings(of: stop, stopOrigins, path: path, prefix: "pages.stop.")
        }

        let incremental = overlay("incremental", layers.dropFirst())
        let (incrementalTable, incrementalOrigins) = resolve(IncrementalTable.self, [incremental])
        resource.incremental = incrementalTable.configuration(
            incremental, incrementalOrigins, of: resource, needsListings: resource.deletion.detect == .snapshot || resource.pagination.kind.isCounted,
            complaints)
        checkToken(of: resource, values.format, incremental)
        if resource.incremental != nil {
            settings += self.settings(
                of: incrementalTable, incrementalOrigins, path: path, prefix: "incremental.",
                only: IncrementalTable.shared.union(incrementalTable.kind.keys).sorted())
        }
        templated.append(
            TemplatedResource(
                scope: resource.scope, partitions: partitions.layer, incremental: incremental, own: own, origins: origins))
        resolved.sections.append(.init(header: isShort ? "[[source]]" : "[[source.resource]]", settings: settings))

        checkSchedule(schedule.value, schedule.origins, own)
        checkRetry(retry.value, retry.origins, own)
        checkRate(rate.value, rate.origins, own)
        checkBreaker(breaker.value, breaker.origins, own)
        checkDeletion(resource, entity, deletion.origins, layers)
        checkKeptBodies(resource, schema.origins, own)
        checkCoercion(resource, schema.origins, own)
        checkTLS(resource.tls, layers.last { $0.table("tls").node != nil }?.table("tls") ?? own.table("tls"))
        checkSecrets(resource, auth.layer, own, table)
        checkSecretNames(resource, origins, own)
        checkQueryNames(resource, auth.layer, origins)
        checkBodySecrets(resource, auth.layer, origins, own)
        return resource
    }

    /// How a resource's requests identify themselves, and the lines of it.
    ///
    /// - Parameter base: what the path of a login follows.
    private func authentication(
        _ layers: [Layer], base: String?, path: String
    ) -> (value: AuthenticationConfiguration, layer: Layer, settings: [ResolvedConfiguration.Setting]) {
        let auth = overlay("auth", layers.dropFirst())
        let (table, origins) = resolve(AuthenticationTable.self, [auth])
        let login = resolve(LoginTable.self, [auth.table("login")]), sendAs = resolve(SendAsTable.self, [auth.table("send_as")])
        let assertion = resolve(AssertionTable.self, [auth.table("assertion")])
        let tls = resolve(TLSConfiguration.self, [auth.table("tls")]), hasTLS = auth.table("tls").node != nil
        if hasTLS { checkTLS(tls.value, auth.table("tls")) }
        let tables = AuthenticationTable.Inner(
            login: login.value, sendAs: sendAs.value, assertion: assertion.value, tls: hasTLS ? tls.value : nil, base: base)
        let value = table.configuration(auth, origins, tables, complaints)
        var settings = settings(of: table, origins, path: path, prefix: "auth.", only: table.shownKeys)
        let inner = table.kind?.keys ?? []
        if inner.contains("login") { settings += self.settings(of: login.value, login.origins, path: path, prefix: "auth.login.") }
        if inner.contains("send_as") { settings += self.settings(of: sendAs.value, sendAs.origins, path: path, prefix: "auth.send_as.") }
        if inner.contains("assertion"), auth.table("assertion").node != nil {
            settings += self.settings(of: assertion.value, assertion.origins, path: path, prefix: "auth.assertion.")
        }
        if inner.contains("tls"), hasTLS { settings += self.settings(of: tls.value, tls.origins, path: path, prefix: "auth.tls.") }
        return (value, auth, settings)
    }

    /// A header or a parameter has one value, written out or secret.
    private func checkSecretNames(_ resource: ResourceConfiguration, _ origins: [String: DocumentNode.Place], _ layer: Layer) {
        let headers = Set((resource.headers + resource.http.headers).map { $0.name.lowercased() })
        for field in resource.secretHeaders where headers.contains(field.name.lowercased()) {
            complaints.add(
                at: origins["secret_headers"], layer.subject, key: "secret_headers", "\(field.name) stands in headers as well", "remove one of them")
        }
        let parameters = Set(resource.parameters.map(\.name))
        for field in resource.secretParameters where parameters.contains(field.name) {
            complaints.add(
                at: origins["secret_params"], layer.subject, key: "secret_params", "\(field.name) stands in params as well", "remove one of them")
        }
    }

    private func resourceSettings(
        _ values: ResourceTable, _ origins: [String: DocumentNode.Place], _ source: SourceConfiguration, isShort: Bool, path: String
    ) -> [ResolvedConfiguration.Setting] {
        if isShort { return settings(of: SourceTable(values: values), origins, path: path) }
        return settings(of: values, origins, path: path)
    }

    private func resourceURL(_ values: ResourceTable, _ layer: Layer, isShort: Bool) -> String? {
        guard let node = layer.node, let table = node.table else { return nil }
        if isShort, let both = table["url"], table["base_url"] != nil || table["path"] != nil {
            let other = table["base_url"] != nil ? "base_url" : "path"
            complaints.add(at: both.place, layer.subject, key: "url", "\"url\" and \"\(other)\" cannot be used together", "remove one of them")
            return nil
        }
        if let url = values.url { return url }
        if isShort, table["url"] == nil, table["base_url"] == nil {
            complaints.add(
                at: node.place, layer.subject, key: "url", "\"url\" is missing", "write url = \"https://api.example.com/items\"")
        }
        if !isShort, table["path"] == nil {
            complaints.add(at: node.place, layer.subject, key: "path", "\"path\" is missing", "write path = \"/items\"")
        }
        guard let base = values.baseURL else { return nil }
        if base.contains("?"), values.path?.isEmpty == false {
            complaints.add(
                at: table["base_url"]?.place ?? node.place, layer.subject, key: "base_url",
                "a base URL with a path after it cannot have a query",
                "move the query into params")
        }
        return RequestURL.join(base, values.path ?? "")
    }

    private func resourceEntity(_ values: ResourceTable, _ layer: Layer, _ model: ModelConfiguration) -> EntityConfiguration? {
        guard let node = layer.node, let table = node.table else { return nil }
        guard let name = values.entity else {
            if table["entity"] == nil {
                complaints.add(
                    at: node.place, layer.subject, key: "entity", "\"entity\" is missing",
                    model.entities.first.map { "write entity = \"\($0.name)\"" } ?? "write entity = \"Item\" and [entity.Item.attributes]")
            }
            return nil
        }
        if let entity = modelIndex.entity(name) { return model.entities[entity] }
        // An entity that was refused has been complained about under its own name.
        if document.table?["entity"]?.table?[name] == nil {
            complaints.add(
                at: table["entity"]?.place, layer.subject.key("entity"), "there is no entity \"\(name)\"",
                model.entities.isEmpty
                    ? "declare it: [entity.\(tomlKey(name)).attributes]"
                    : suggestion(for: name, among: model.entities.map(\.name), kind: "known entities"))
        }
        return nil
    }

    /// A table that one kind governs: a layer that names a kind replaces what is below it, one that does not adds to it.
    private func overlay(_ name: String, _ layers: some Sequence<Layer>) -> Layer {
        var result = Layer(node: nil, subject: .root)
        for layer in layers {
            let table = layer.table(name)
            guard let node = table.node else { continue }
            if let below = result.node, node.table?["kind"] == nil {
                result = Layer(node: below.yieldingIdentity(to: node).merged(with: node), subject: table.subject)
            } else {
                // What is replaced is checked all the same.
                if name == "auth" {
                    _ = resolve(AuthenticationTable.self, [result])
                    _ = resolve(LoginTable.self, [result.table("login")])
                    _ = resolve(SendAsTable.self, [result.table("send_as")])
                    _ = resolve(AssertionTable.self, [result.table("assertion")])
                    _ = resolve(TLSConfiguration.self, [result.table("tls")])
                }
                if name == "pages" { _ = resolve(PaginationTable.self, [result]) }
                if name == "incremental" { _ = resolve(IncrementalTable.self, [result]) }
                result = table
            }
        }
        return result
    }

    private func origin(of key: String, _ origins: [String: DocumentNode.Place]) -> ResolvedConfiguration.Origin {
        origins[key].map(Self.origin) ?? .builtIn
    }

    /// The elements of an array of tables.
    private func elements(_ node: DocumentNode?, _ header: String, _ subject: Subject) -> [DocumentNode] {
        guard let node else { return [] }
        guard let array = node.array else {
            complaints.add(
                at: node.place, subject, "expected an array of tables, found \(node.found)", "write [[\(header)]], in two brackets")
            return []
        }
        return array.filter { element in
            if element.table != nil { return true }
            complaints.add(at: element.place, subject, "expected a table, found \(element.found)", "write [[\(header)]]")
            return false
        }
    }

    private func checkName(
        _ kind: String, _ name: String?, _ node: DocumentNode, _ subject: Subject, among names: inout [String: DocumentNode.Place]
    ) {
        guard let name else {
            if node.table?["name"] == nil {
                complaints.add(at: node.place, subject, key: "name", "\"name\" is missing", "write name = \"…\"")
            }
            return
        }
        if let first = names[name] {
            let line = first.line.map { ", line \($0)" } ?? ""
            complaints.add(
                at: node.table?["name"]?.place, subject, key: "name",
                "two \(kind)s have this name, the first in \(first.file)\(line)",
                "rename one of them")
        } else {
            names[name] = node.place
        }
    }
}

extension DocumentNode {
    /// Whether a table `tls` names another certificate, and no key for it.
    var replacesIdentity: Bool { table.map { $0["client_cert"] != nil && $0["client_key"] == nil } ?? false }

    /// A table without the key in its `tls` that belongs to another certificate than the one in that of a later table.
    fileprivate func yieldingIdentity(to later: DocumentNode) -> DocumentNode {
        guard later.table?["tls"]?.replacesIdentity == true, var table = self.table, var tls = table["tls"]?.table else { return self }
        tls["client_key"] = nil
        table["tls"]?.value = .table(tls)
        var result = self
        result.value = .table(table)
        return result
    }
}
