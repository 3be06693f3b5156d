import Foundation
import Testing

@testable import SyncConfiguration

/// A suite that reads configurations with presets: those that it is given, or the package's own.
protocol PresetReading {}

extension PresetReading {
    /// A preset with one of everything: parameters of all kinds, a resource in two variants, one that has parts for it, and one that nobody names.
    static var hub: String {
        """
        [preset]
        summary = "a hub"
        documentation = "https://hub.example/docs"
        resources = ["repos", "issues"]
        [preset.credentials]
        "auth.token" = "a token that may read"
        [preset.with]
        owner = { type = "name", required = true, meaning = "whose repositories are meant" }
        repos = { type = "texts", meaning = "only these" }
        site = { type = "name", default = "api", meaning = "the site" }
        state = { type = "text", one_of = ["open", "all"], default = "all", meaning = "which issues" }
        size = { type = "integer", default = 50, meaning = "records a page" }
        keys = { type = "names", meaning = "further keys" }
        [[source]]
        base_url = "https://{with.site}.hub.example/v1"
        auth = { kind = "bearer", scheme = "Token" }
        pages = { kind = "cursor", path = "$.next" }
        records = "$.data"
        schedule.every = "1h"
          [[source.resource]]
          name = "repos"
          when_missing = ["repos"]
          path = "/owners/{with.owner}/repos"
          entity = "HubRepo"
          params = { size = "{with.size}" }
          [[source.resource]]
          name = "repos"
          when_given = ["repos"]
          for_each = { values = "{with.repos}", as = "repo" }
          path = "/repos/{with.owner}/{repo:segment}"
          records = "$"
          pages = { kind = "none" }
          entity = "HubRepo"
          [[source.resource]]
          name = "issues"
          for_each = { resource = "repos", as = "repo", where = "state == '{with.state}'" }
          path = "/repos/{repo.id}/issues"
          entity = "HubIssue"
          params = { state = "{with.state}", key = "{with.keys}", q = "owner:{with.owner} size>{with.size}" }
          headers = { X-Owner = "{with.owner}" }
          schedule.every = "5m"
          set = { repo = "{repo}" }
          [[source.resource]]
          name = "searches"
          method = "POST"
          path = "/search"
          json = { keys = "{with.keys}", text = "{with.owner}", n = "{with.size}" }
          entity = "HubSearch"
        [entity.HubUser.attributes]
        id = { type = "int64", optional = false }
        [entity.HubRepo]
        attributes = { id = { type = "int64", optional = false }, state = { type = "string" } }
        relationships = { owner = { to = "HubUser" } }
        [entity.HubIssue]
        attributes = { id = { type = "int64", optional = false }, title = { type = "string" } }
        relationships = { repo = { to = "HubRepo" } }
        [entity.HubSearch]
        attributes = { id = { type = "int64", optional = false } }
        """
    }

    /// Reads a configuration beside presets: `/c/cisternd.toml`, `/c/presets/NAME.toml`.
    func reading(
        _ text: String, presets: [String: String] = ["hub": Self.hub], dropIns: [String: String] = [:], environment: [String: String] = [:]
    ) -> ConfigurationReading {
        var files = ConfigurationTexts(["/c/cisternd.toml": text])
        for (name, text) in presets { files.files["/c/presets/\(name).toml"] = Array(text.utf8) }
        for (name, text) in dropIns { files.files["/c/conf.d/\(name)"] = Array(text.utf8) }
        return ConfigurationReader(path: "/c/cisternd.toml", environment: environment, files: files).read()
    }

    func configuration(
        _ text: String, presets: [String: String] = ["hub": Self.hub], dropIns: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CisternConfiguration {
        let reading = reading(text, presets: presets, dropIns: dropIns)
        #expect(reading.errors.map(\.description) == [], sourceLocation: sourceLocation)
        return try #require(reading.configuration, sourceLocation: sourceLocation)
    }

    func errors(_ text: String, presets: [String: String] = ["hub": Self.hub]) -> [String] {
        reading(text, presets: presets).errors.map(\.description)
    }

    /// A source with the preset, and lines of its own before and after the owner is said.
    func source(_ lines: String = "", with: String = "", after: String = "") -> String {
        """
        [[source]]
        preset = "hub"
        auth.token = { credential = "t" }
        \(lines)
        [source.with]
        owner = "ada"
        \(with)
        \(after)
        """
    }
}
