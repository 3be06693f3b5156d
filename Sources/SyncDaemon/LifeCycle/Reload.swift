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
        let reasons = Self.restartReasons(difference)
        if !reasons.isEmpty { return .needsRestart(reasons) }
        return difference.isEmpty ? .unchanged(reading) : .apply(new, difference, reading)
    }

    /// What only a restart can bring about: settings that are read once, and the model, which the open store was made for.
    static func restartReasons(_ difference: ConfigurationDifference) -> [String] {
        var reasons = difference.restartSettings
        if difference.modelChanged {
            let entities = (difference.addedEntities + difference.removedEntities + difference.changedEntities).sorted()
            reasons.append(entities.isEmpty ? "the model" : "the model (\(entities.joined(separator: ", ")))")
        }
        return reasons
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
        add(difference.changedSettings.count, "setting", "changed")
        return parts.isEmpty ? "nothing changed" : parts.joined(separator: ", ")
    }
}
