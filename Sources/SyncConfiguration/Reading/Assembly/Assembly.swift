import Foundation

/// Makes the configuration out of the merged document: service sections, defaults, model, sources, and the checks between them.
struct Assembly {
    let document: DocumentNode
    let environment: [String: String]
    /// For checking the files that hold secrets.
    let files: any ConfigurationFiles
    let complaints: Complaints
    var resolved = ResolvedConfiguration()
    /// Names in the model, which the sources refer to.
    var modelIndex = ModelIndex(ModelConfiguration())
    /// What is checked when all resources are known.
    var templated: [TemplatedResource] = []

    init(document: DocumentNode, environment: [String: String], files: any ConfigurationFiles, complaints: Complaints) {
        self.document = document
        self.environment = environment
        self.files = files
        self.complaints = complaints
    }

    /// The whole configuration; of use only when no error was added to the complaints.
    mutating func assemble() -> CisternConfiguration {
        let top = Layer(node: document, subject: .root)
        var configuration = CisternConfiguration()
        _ = section(TopTable.self, "", [top])
        configuration.daemon = section(DaemonConfiguration.self, "daemon", [top.table("daemon")])
        configuration.document = section(DocumentConfiguration.self, "document", [top.table("document")])
        configuration.store = section(StoreConfiguration.self, "store", [top.table("store")])
        configuration.store.backup = section(BackupConfiguration.self, "store.backup", [top.table("store").table("backup")])
        configuration.log = section(LogConfiguration.self, "log", [top.table("log")])
        configuration.control = section(ControlConfiguration.self, "control", [top.table("control")])
        let defaults = top.table("defaults")
        assembleDefaults(defaults)
        configuration.model = assembleModel(top)
        configuration.sources = assembleSources(top, defaults: defaults, model: configuration.model)

        configuration.document.path = ConfiguredPath.expand(configuration.document.path, in: environment)
        configuration.store.backup.directory = ConfiguredPath.expand(configuration.store.backup.directory, in: environment)
        configuration.control.socket = ConfiguredPath.expand(configuration.control.socket, in: environment)
        checkBackupFolder(configuration)
        if configuration.daemon.contact.isEmpty, configuration.sources.contains(where: \.isEnabled) {
            complaints.add(
                .warning, at: document.table?["daemon"]?.place, Subject.root.key("daemon").key("contact"),
                "the operators of the services have no way to reach you", "write contact = \"you@example.org\" in [daemon]")
        }
        return configuration
    }

    /// The document's folder is locked by whoever has it open, and the folder of the backups by whoever makes one.
    private func checkBackupFolder(_ configuration: CisternConfiguration) {
        func plain(_ path: String) -> String { URL(fileURLWithPath: path).standardized.path }
        guard plain(configuration.store.backup.directory) == plain(configuration.document.path) else { return }
        let table = document.table?["store"]?.table?["backup"], place = table?.table?["dir"]?.place ?? document.table?["document"]?.place
        complaints.add(
            at: place, Subject.root.key("store").key("backup"), key: "dir",
            "\"\(configuration.store.backup.directory)\" is the document itself, in which no backup can be made",
            "write another folder, such as dir = \"\(plain(configuration.document.path))/backup\"")
    }

    private mutating func assembleDefaults(_ defaults: Layer) {
        _ = resolve(DefaultsTable.self, [defaults])
        func layer(_ name: String) -> [Layer] { [defaults.table(name)] }
        let schedule = resolveSchedule(layer("schedule"))
        resolved.sections.append(
            .init(header: "[defaults.schedule]", settings: settings(of: schedule.value, schedule.origins, path: "defaults.schedule")))
        _ = section(HTTPConfiguration.self, "defaults.http", layer("http"))
        let tls = section(TLSConfiguration.self, "defaults.tls", layer("tls"))
        checkTLS(tls, defaults.table("tls"))
        _ = section(RetryConfiguration.self, "defaults.retry", layer("retry"))
        _ = section(RateConfiguration.self, "defaults.rate", layer("rate"))
        _ = section(BreakerConfiguration.self, "defaults.breaker", layer("breaker"))
        _ = section(LimitsConfiguration.self, "defaults.limits", layer("limits"))
        _ = section(ParsePolicy.self, "defaults.parse", layer("parse"))
        _ = section(SchemaConfiguration.self, "defaults.schema", layer("schema"))
        _ = section(DeletionConfiguration.self, "defaults.deletion", layer("deletion"))
    }

    /// One value from merged tables, with the places where its keys were set.
    func resolve<T: ConfigurationTable>(_ type: T.Type, _ layers: [Layer]) -> (value: T, origins: [String: DocumentNode.Place]) {
        var value = T()
        var origins: [String: DocumentNode.Place] = [:]
        for layer in layers { value.apply(layer, to: complaints, origins: &origins) }
        return (value, origins)
    }

    /// `tls` of several layers. A certificate comes with its key, or has it in the same place: the key of a layer below belongs to another one.
    func resolveTLS(_ layers: [Layer]) -> (value: TLSConfiguration, origins: [String: DocumentNode.Place]) {
        var value = TLSConfiguration()
        var origins: [String: DocumentNode.Place] = [:]
        for layer in layers {
            if layer.node?.replacesIdentity == true {
                value.clientKey = nil
                origins["client_key"] = nil
            }
            value.apply(layer, to: complaints, origins: &origins)
        }
        return (value, origins)
    }

    /// A value of several layers, and a section of the resolved configuration.
    private mutating func section<T: ConfigurationTable>(_ type: T.Type, _ path: String, _ layers: [Layer]) -> T {
        let (value, origins) = resolve(type, layers)
        let header = path.isEmpty ? "" : "[\(path)]"
        resolved.sections.append(.init(header: header, settings: settings(of: value, origins, path: path)))
        return value
    }

    /// The settings of a table.
    func settings<T: ConfigurationTable>(
        of value: T, _ origins: [String: DocumentNode.Place], path: String, prefix: String = "", only: [String]? = nil
    ) -> [ResolvedConfiguration.Setting] {
        complaints.keyTables.keys(of: T.self).all.compactMap { key in
            guard key.status == .settable || key.status == .inForce, only?.contains(key.name) != false, let text = key.toml(value) else {
                return nil
            }
            return setting(
                prefix + key.name, path: path, text, origins[key.name].map(Self.origin) ?? .builtIn, isSettable: key.status == .settable)
        }
    }

    func setting(
        _ key: String, path: String, _ text: String, _ origin: ResolvedConfiguration.Origin, isSettable: Bool = true
    ) -> ResolvedConfiguration.Setting {
        .init(key: key, keyPath: path.isEmpty ? key : "\(path).\(key)", value: text, origin: origin, isSettable: isSettable)
    }

    static func origin(_ place: DocumentNode.Place) -> ResolvedConfiguration.Origin {
        .file(place.file, line: place.line)
    }

    /// Certificates go unchecked only with a reason, and a key has a certificate.
    func checkTLS(_ tls: TLSConfiguration, _ layer: Layer) {
        if tls.clientKey != nil, tls.clientCertificate == nil {
            complaints.add(
                at: layer.node?.table?["client_key"]?.place ?? layer.node?.place, layer.subject.key("client_key"), "a key needs its certificate",
                "write client_cert = \"/path/to/cert.pem\"")
        }
        guard !tls.verify else { return }
        let place = layer.node?.table?["verify"]?.place ?? layer.node?.place
        if tls.insecureReason.isEmpty {
            complaints.add(
                at: place, layer.subject.key("verify"), "turning off certificate checks needs a reason",
                "write insecure_reason = \"…\", or remove verify = false")
        } else {
            complaints.add(
                .warning, at: place, layer.subject.key("verify"), "certificates are not checked: \(tls.insecureReason)",
                "use ca = \"/path/to/ca.pem\" instead")
        }
    }
}

/// Checks that involve more than one key.
extension Assembly {
    func checkRetry(_ retry: RetryConfiguration, _ origins: [String: DocumentNode.Place], _ layer: Layer) {
        guard retry.base > retry.maxDelay else { return }
        complaints.add(
            at: origins["base"] ?? origins["max_delay"], layer.subject.key("retry").key("base"),
            "base \"\(retry.base)\" is longer than max_delay \"\(retry.maxDelay)\"", "write max_delay = \"\(retry.base)\"")
    }

    func checkRate(_ rate: RateConfiguration, _ origins: [String: DocumentNode.Place], _ layer: Layer) {
        let subject = layer.subject.key("rate")
        if case .named(nil, _, _) = rate.headers, rate.earlyLimit > 0 {
            complaints.add(
                at: origins["early_limit"] ?? origins["headers"], subject.key("early_limit"),
                "early_limit is a share of a limit, and headers names none",
                "write limit = \"NAME\" in headers, or remove early_limit")
        }
    }

    func checkBreaker(_ breaker: BreakerConfiguration, _ origins: [String: DocumentNode.Place], _ layer: Layer) {
        guard breaker.openFor > breaker.maxOpen else { return }
        complaints.add(
            at: origins["open_for"] ?? origins["max_open"], layer.subject.key("breaker").key("open_for"),
            "open_for \"\(breaker.openFor)\" is longer than max_open \"\(breaker.maxOpen)\"", "write max_open = \"\(breaker.openFor)\"")
    }

    /// Warns of secrets that others can read.
    func checkSecrets(_ resource: ResourceConfiguration, _ auth: Layer, _ layer: Layer, _ table: [String: DocumentNode]) {
        let secrets = resource.secrets, all = secrets + resource.keysOfTLS
        for case .environment(let name) in secrets {
            complaints.add(
                .warning, at: auth.node?.place ?? layer.node?.place, auth.node == nil ? layer.subject : auth.subject,
                "the environment variable \(name) can be read by other processes of the same user",
                "use { credential = \"ID\" }")
        }
        for case .file(let path) in all where files.canEverybodyRead(path) {
            complaints.add(
                .warning, at: auth.node?.place ?? layer.node?.place, auth.node == nil ? layer.subject : auth.subject,
                "everyone on this machine can read the secret in \(path)",
                "chmod 600 \(path), or use { credential = \"ID\" }")
        }
        let host = RequestURL.host(of: resource.url)
        if !secrets.isEmpty, resource.url.lowercased().hasPrefix("http:"), !RequestURL.isLoopback(resource.url) {
            complaints.add(
                .warning, at: table["url"]?.place ?? auth.node?.place, layer.subject, "a secret is sent without encryption to \(host)",
                "use https")
        }
        if resource.tls.clientCertificate != nil, resource.url.lowercased().hasPrefix("http:"), !RequestURL.isLoopback(resource.url) {
            complaints.add(
                .warning, at: table["url"]?.place ?? layer.node?.place, layer.subject, "without encryption \(host) is shown no certificate",
                "use https, or write tls.client_cert = \"\"")
        }
        if !resource.tls.pinSHA256.isEmpty, resource.url.lowercased().hasPrefix("http:") {
            complaints.add(
                at: table["url"]?.place ?? layer.node?.place, layer.subject,
                "without encryption \(host) has no key that tls.pin_sha256 could be compared with", "use https, or write tls.pin_sha256 = []")
        }
    }

    /// A key is made of different attributes that exist and can be compared.
    func checkKey(
        _ key: [String], of entity: EntityConfiguration, _ index: ModelIndex, at place: DocumentNode.Place?, _ subject: Subject
    ) {
        for name in key {
            guard let attribute = index.attribute(name, of: entity.name).map({ entity.attributes[$0] }) else {
                let isRelationship = index.relationship(name, of: entity.name) != nil
                complaints.add(
                    at: place, subject, "\"\(name)\" is not an attribute of \"\(entity.name)\"",
                    isRelationship
                        ? "a key is made of attributes; declare one for the value the relationship is found by"
                        : suggestion(for: name, among: entity.attributes.map(\.name), kind: "known attributes"))
                continue
            }
            if !attribute.isRead, entity.derivedKey == nil {
                complaints.add(at: place, subject, "\"\(name)\" has read = false, and records are recognised by it", "remove read = false")
            }
            if !attribute.type.mayBeKey {
                complaints.add(
                    at: place, subject, "\"\(name)\" has the type \(attribute.type), which cannot be a key",
                    "use string, uuid, decimal or an integer type")
            }
        }
    }
}
