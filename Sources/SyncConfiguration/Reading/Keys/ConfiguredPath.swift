/// The variables that may stand at the front of a path.
enum ConfiguredPath {
    static let variables = ["$STATE_DIRECTORY", "$RUNTIME_DIRECTORY"]

    /// Where they point when nobody says: a tool that runs outside the service then finds the service's own directories.
    private static let fallbacks = ["$STATE_DIRECTORY": "/var/lib/cistern", "$RUNTIME_DIRECTORY": "/run/cistern"]

    /// The path with its variable filled in. A service manager may name several directories, separated by colons; the first counts.
    static func expand(_ path: String, in environment: [String: String]) -> String {
        for variable in variables where path == variable || path.hasPrefix(variable + "/") {
            let listed = environment[String(variable.dropFirst())] ?? ""
            let directory = listed.split(separator: ":").first.map(String.init) ?? fallbacks[variable] ?? ""
            return directory + path.dropFirst(variable.count)
        }
        return path
    }
}
