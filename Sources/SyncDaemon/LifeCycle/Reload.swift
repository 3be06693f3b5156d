import SyncConfiguration

/// Reads the whole configuration again and decides whether it can take the place of the one in force. Changes nothing.
struct Reload: Sendable {
    enum Outcome: Sendable {
        /// Everything is as it was.
        case unchanged(ConfigurationReading)
        case apply(CisternConfiguration, ConfigurationDifference, ConfigurationReading)
        /// It has errors.
        case invalid([ConfigurationProblem])
        /// It is valid, but only a restart can bring it into force. With the reasons.
        case needsRestart([String])
    }

    let reader: ConfigurationReader

    func decide(inForce old: CisternConfiguration) -> Outcome {
        let reading = reader.read()
        guard let new = reading.configuration else { return .invalid(reading.problems) }
        let difference = ConfigurationDifference(from: old, to: new)
        if difference.needsRestart { return .needsRestart(difference.restartSettings) }
        return difference.isEmpty ? .unchanged(reading) : .apply(new, difference, reading)
    }

    /// `1 source added, 2 resources changed`
    static func summary(_ difference: ConfigurationDifference) -> String {
        var parts: [String] = []
        func add(_ count: Int, _ noun: String, _ verb: String) {
            if count > 0 { parts.append("\(count) \(noun)\(count == 1 ? "" : "s") \(verb)") }
        }
        add(difference.addedSources.count, "source", "added")
        add(difference.removedSources.count, "source", "removed")
        let wholly = Set(difference.addedSources + difference.removedSources)
        func inChangedSources(_ scopes: [String]) -> Int {
            scopes.count { scope in !wholly.contains(String(scope.prefix { $0 != "/" })) }
        }
        add(inChangedSources(difference.addedResources), "resource", "added")
        add(inChangedSources(difference.removedResources), "resource", "removed")
        add(difference.changedResources.count, "resource", "changed")
        let entities = difference.addedEntities.count + difference.removedEntities.count + difference.changedEntities.count
        if entities > 0 { parts.append("\(entities) \(entities == 1 ? "entity" : "entities") of the model changed") }
        add(difference.changedSettings.count + difference.storeSettings.count, "setting", "changed")
        return parts.isEmpty ? "nothing changed" : parts.joined(separator: ", ")
    }
}
