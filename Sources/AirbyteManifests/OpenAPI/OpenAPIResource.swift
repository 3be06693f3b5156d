/// A resource as an operation suggests it.
final class OpenAPIResource {
    let name: String
    /// As the document has it: `/repos/{id}/issues`.
    let address: String
    /// The line of its path in the document.
    let line: Int
    let entity: String
    let listing: OpenAPIListing
    let pages: OpenAPIPages
    /// With the places of templates.
    var path: String
    var parameters = TOMLTable()
    /// Nil: as the source's.
    var auth: TOMLTable?
    var parent: OpenAPIResource?
    /// What templates call the parent's object.
    var alias = ""
    var assigned = TOMLTable()
    /// What a person has to look at.
    var remarks: [String] = []

    init(name: String, address: String, line: Int, entity: String, listing: OpenAPIListing, pages: OpenAPIPages) {
        (self.name, self.address, self.line, self.entity, self.listing, self.pages) = (name, address, line, entity, listing, pages)
        path = address
    }

    /// This and all that it has parts for, the outermost first.
    var lineage: [OpenAPIResource] { (parent?.lineage ?? []) + [self] }

    var lines: [String] {
        var lines = ["# GET \(ConfigurationText.comment(address))"] + remarks.map { "# \(ConfigurationText.comment($0))" }
        lines += [
            "[[source.resource]]", "name = \(TOMLValue.text(name).toml)", "entity = \(TOMLValue.text(entity).toml)",
            "path = \(TOMLValue.text(path).toml)",
        ]
        if let parent { lines.append("for_each = \(TOMLTable([("resource", .text(parent.name)), ("as", .text(alias))]).toml)") }
        if !listing.records.isEmpty { lines.append("records = \(TOMLValue.text(listing.recordsPath).toml)") }
        if !parameters.isEmpty { lines.append("params = \(parameters.toml)") }
        lines.append("# \(ConfigurationText.comment(pages.reason))")
        if !pages.table.isEmpty { lines.append("pages = \(pages.table.toml)") }
        if !assigned.isEmpty { lines.append("set = \(assigned.toml)") }
        if let auth { lines.append("auth = \((auth.isEmpty ? TOMLTable([("kind", .text("none"))]) : auth).toml)") }
        return lines
    }
}
