/// What no single key can tell.
extension Assembly {
    func checkSchedule(_ schedule: ScheduleConfiguration, _ origins: [String: DocumentNode.Place], _ layer: Layer) {
        let subject = layer.subject.key("schedule")
        if schedule.minInterval > schedule.maxInterval {
            complaints.add(
                at: origins["min_interval"] ?? origins["max_interval"], subject.key("min_interval"),
                "min_interval \"\(schedule.minInterval)\" is longer than max_interval \"\(schedule.maxInterval)\"", "exchange them")
        } else if schedule.every < schedule.minInterval {
            complaints.add(
                at: origins["every"] ?? origins["min_interval"], subject.key("every"),
                "every \"\(schedule.every)\" is shorter than min_interval \"\(schedule.minInterval)\"",
                "write min_interval = \"\(schedule.every)\" if the service allows it")
        } else if schedule.every > schedule.maxInterval {
            complaints.add(
                at: origins["every"] ?? origins["max_interval"], subject.key("every"),
                "every \"\(schedule.every)\" is longer than max_interval \"\(schedule.maxInterval)\"",
                "write max_interval = \"\(schedule.every)\"")
        }
    }

    func checkRetry(_ retry: RetryConfiguration, _ origins: [String: DocumentNode.Place], _ layer: Layer) {
        guard retry.base > retry.maxDelay else { return }
        complaints.add(
            at: origins["base"] ?? origins["max_delay"], layer.subject.key("retry").key("base"),
            "base \"\(retry.base)\" is longer than max_delay \"\(retry.maxDelay)\"", "write max_delay = \"\(retry.base)\"")
    }

    /// Warns of secrets that others can read.
    func checkSecrets(_ resource: ResourceConfiguration, _ auth: Layer, _ layer: Layer, _ table: [String: DocumentNode]) {
        let secrets = resource.authentication.secrets
        for case .environment(let name) in secrets {
            complaints.add(
                .warning, at: auth.node?.place, auth.subject,
                "the environment variable \(name) can be read by other processes of the same user",
                "use { credential = \"ID\" }")
        }
        for case .file(let path) in secrets where files.canEverybodyRead(path) {
            complaints.add(
                .warning, at: auth.node?.place, auth.subject, "everybody on this machine may read the secret in \(path)",
                "chmod 600 \(path), or use { credential = \"ID\" }")
        }
        let host = RequestURL.host(of: resource.url)
        let isLocal = host == "localhost" || host == "::1" || host.hasPrefix("127.")
        if !secrets.isEmpty, resource.url.lowercased().hasPrefix("http:"), !isLocal {
            complaints.add(
                .warning, at: table["url"]?.place ?? auth.node?.place, layer.subject, "a secret is sent without encryption to \(host)",
                "use https")
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
            switch attribute.type {
            case .json, .data, .double:
                complaints.add(
                    at: place, subject, "\"\(name)\" is of the type \(attribute.type), which cannot be a key",
                    "use string, uuid, decimal or an integer type")
            default: break
            }
        }
    }
}
