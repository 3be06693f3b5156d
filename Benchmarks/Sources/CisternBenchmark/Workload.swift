import Foundation
import SyncPipeline

/// What is imported: the same fields into the same columns as the C++ program's.
struct Workload {
    let configuration: String
    let transport: any HTTPTransport
    /// In the order in which they are imported: what others point to first.
    let resources: [String]

    /// `geo FOLDER [--cities BODY]`, `places BODY`, `pages BODY` (the places a hundred at a time) or `issues BODY`.
    init?(_ arguments: [String]) throws {
        guard arguments.count >= 2 else { return nil }
        let url = URL(fileURLWithPath: arguments[1])
        switch arguments[0] {
        case "geo":
            var cities = url.appendingPathComponent("cities.json.gz")
            if let index = arguments.firstIndex(of: "--cities"), index + 1 < arguments.count {
                cities = URL(fileURLWithPath: arguments[index + 1])
            }
            transport = FileTransport(files: [
                "countries": url.appendingPathComponent("countries.json"), "states": url.appendingPathComponent("states.json.gz"),
                "cities": cities,
            ])
            resources = ["countries", "states", "cities"]
            configuration = Self.head + Self.geo
        case "places":
            transport = FileTransport(files: ["places": url])
            resources = ["places"]
            configuration = Self.head + Self.places()
        case "pages":
            transport = try PageTransport(url)
            resources = ["places"]
            configuration = Self.head + Self.places(#"pages = { kind = "page", param = "page", size_param = "size", size = 100 }"#)
        case "issues":
            transport = FileTransport(files: ["issues": url])
            resources = ["issues"]
            configuration = Self.head + Self.issues
        default: return nil
        }
    }

    private static let head = """
        version = 1
        [store]
        integrity_check = "off"
        min_free_disk = "1MiB"
        [defaults.schedule]
        every = "1h"
        min_interval = "1s"
        [defaults.http]
        max_body = "64GiB"
        max_body_compressed = "64GiB"
        total_timeout = "1h"
        [defaults.limits]
        max_records_per_page = 100000000
        max_objects_per_page = 100000000
        max_bad_records = 1000
        [[source]]
        name = "files"
        base_url = "http://127.0.0.1:1"

        """

    private static let geo = """
          [[source.resource]]
          name = "countries"
          entity = "Country"
          path = "/countries"
          [[source.resource]]
          name = "states"
          entity = "State"
          path = "/states"
          [[source.resource]]
          name = "cities"
          entity = "City"
          path = "/cities"
        [entity.Country]
        key = ["id"]
        [entity.Country.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        iso3 = { type = "string" }
        iso2 = { type = "string" }
        capital = { type = "string" }
        currency = { type = "string" }
        population = { type = "int64" }
        region = { type = "string" }
        latitude = { type = "double" }
        longitude = { type = "double" }
        [entity.State]
        key = ["id"]
        [entity.State.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        iso2 = { type = "string" }
        kind = { path = "$.type", type = "string" }
        latitude = { type = "double" }
        longitude = { type = "double" }
        timezone = { type = "string" }
        updatedAt = { path = "$.updated_at", type = "date" }
        wikiDataId = { type = "string" }
        [entity.State.relationships]
        country = { to = "Country", path = "$.country_id", match = "key" }
        [entity.City]
        key = ["id"]
        [entity.City.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        latitude = { type = "double" }
        longitude = { type = "double" }
        population = { type = "int64" }
        timezone = { type = "string" }
        updatedAt = { path = "$.updated_at", type = "date" }
        wikiDataId = { type = "string" }
        [entity.City.relationships]
        state = { to = "State", path = "$.state_id", match = "key" }
        country = { to = "Country", path = "$.country_id", match = "key" }

        """

    private static let issues = """
          [[source.resource]]
          name = "issues"
          entity = "Issue"
          path = "/issues"
        [entity.Issue]
        key = ["id"]
        [entity.Issue.attributes]
        id = { type = "int64", optional = false }
        number = { type = "int64" }
        title = { type = "string" }
        state = { type = "string" }
        comments = { type = "int64" }
        createdAt = { path = "$.created_at", type = "date" }
        [entity.Issue.relationships]
        labels = { to = "Label", many = true, match = "embedded", mode = "replace" }
        [entity.Label]
        key = ["id"]
        [entity.Label.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        color = { type = "string" }

        """

    private static func places(_ pages: String = "") -> String {
        """
          [[source.resource]]
          name = "places"
          entity = "Place"
          path = "/places"
          \(pages)
        [entity.Place]
        key = ["id"]
        [entity.Place.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        code = { type = "string" }
        kind = { type = "string" }
        latitude = { type = "double" }
        longitude = { type = "double" }
        population = { type = "int64" }
        updatedAt = { path = "$.updated_at", type = "date" }

        """
    }
}
