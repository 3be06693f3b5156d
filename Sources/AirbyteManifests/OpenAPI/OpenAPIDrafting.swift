import JSONPaths
import SyncConfiguration

/// Goes through the paths of a description, and makes resources of those that answer lists.
final class OpenAPIDrafting {
    /// So many resources are drafted.
    private static let mostResources = 300

    let file: String
    let source: String
    let check: SelfCheck
    private let document: OpenAPIDocument
    private let address: String?
    private let model: OpenAPIModel
    private(set) var resources: [OpenAPIResource] = []
    private(set) var leftOut: [OpenAPIConversion.LeftOut] = []
    private var credentials: [OpenAPIConversion.Credential] = []
    private var auth = TOMLTable()
    private var base = ""
    private var remarks: [String] = []

    init(_ document: OpenAPIDocument, file: String, address: String?, check: SelfCheck) {
        self.document = document
        self.file = file
        self.address = address
        self.check = check
        model = OpenAPIModel(document)
        let title = document.root["info"]?.mapping?["title"]?.text ?? ""
        source = Names.resource(title.lowercased().split(whereSeparator: \.isWhitespace).filter { $0 != "api" }.joined(separator: "-"))
    }

    /// The recipe.
    func draft() {
        findBase()
        findAuthentication()
        for entry in sortedPaths { draft(entry) }
        shareAuthentication()
        countOthers()
        model.relateByKeys(among: Set(resources.map(\.entity)))
        for resource in resources where resource.parent != nil { assignParent(of: resource) }
        for resource in resources { remark(resource) }
        leaveOutRefused()
    }

    private func leaveOut(_ line: Int, _ subject: String, _ reason: String) {
        leftOut.append(.init(line: line, subject: ManifestValue.shortened(subject), reason: ManifestValue.shortened(reason, limit: 300)))
    }

    // MARK: The source

    private func findBase() {
        var said: String?, line = 1
        if document.isSwagger {
            let schemes = (document.root["schemes"]?.list ?? []).compactMap(\.text)
            let scheme = schemes.contains("https") || schemes.isEmpty ? "https" : "http", path = document.root["basePath"]?.text ?? ""
            said = document.root["host"]?.text.map { "\(scheme)://\($0)\(path)" } ?? path
        } else {
            let servers = document.root["servers"]?.list ?? []
            line = document.root.line(of: "servers") ?? 1
            if let server = servers.first?.mapping {
                var url = server["url"]?.text ?? ""
                for variable in server["variables"]?.mapping?.entries ?? [] {
                    let value = variable.value.mapping?["default"]?.scalar ?? ""
                    if url.contains("{\(variable.key)}") {
                        remarks.append("base_url has \"\(value)\" for \(variable.key), which the document says by default.")
                    }
                    url = url.replacing("{\(variable.key)}", with: value)
                }
                said = url
            }
            for other in servers.dropFirst() { leaveOut(other.line, "servers", "another address: \(other.mapping?["url"]?.text ?? "")") }
        }
        base = absolute(said ?? "")
        while base.hasSuffix("/") { base.removeLast() }
        let rest = base.firstRange(of: "://").map { base[$0.upperBound...] } ?? ""
        let isUsable = (base.hasPrefix("https://") || base.hasPrefix("http://")) && !rest.isEmpty && !rest.hasPrefix("/")
        if !isUsable || base.contains(where: { "{}?#@ ".contains($0) }) {
            leaveOut(line, "servers", "there is no address that could be asked; write it as base_url")
            base = "https://fill-in.example"
        }
    }

    private func absolute(_ reference: String) -> String {
        if reference.contains("://") { return reference }
        guard let address, let separator = address.firstRange(of: "://") else { return reference }
        let scheme = address[..<separator.upperBound], host = address[separator.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if reference.hasPrefix("//") { return "\(scheme.dropLast(2))\(reference)" }
        if reference.isEmpty || reference.hasPrefix("/") { return "\(scheme)\(host)\(reference)" }
        let path = address.prefix { $0 != "?" && $0 != "#" }.dropFirst(scheme.count + host.count)
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return "\(scheme)\(host)\(folder)\(reference)"
    }

    private func findAuthentication() {
        let answer = OpenAPISecurity(document: document, source: source).answer(document.root["security"])
        (auth, credentials) = (answer.auth, answer.credentials)
        if let reason = answer.reason { leaveOut(document.root.line(of: "security") ?? 1, "security", reason) }
    }

    /// Where each operation says the same for itself, and nothing is said of all, the source says it.
    private func shareAuthentication() {
        guard document.root["security"] == nil, let first = resources.first?.auth, resources.allSatisfy({ $0.auth == first }) else { return }
        auth = first
        for resource in resources { resource.auth = nil }
    }

    // MARK: Paths

    private var paths: [ManifestMapping.Entry] { document.root["paths"]?.mapping?.entries ?? [] }

    /// Those with fewer segments first: parents before what they have parts for.
    private var sortedPaths: [ManifestMapping.Entry] {
        let ranked = paths.enumerated().map { (depth: $1.key.split(separator: "/").count, place: $0, entry: $1) }
        return ranked.sorted { ($0.depth, $0.place) < ($1.depth, $1.place) }.map { $0.entry }
    }

    private func countOthers() {
        let methods: Set = ["post", "put", "patch", "delete", "head", "options", "trace", "query"]
        let others = paths.reduce(0) { count, entry in count + (entry.value.mapping?.entries ?? []).count { methods.contains($0.key) } }
        if others > 0 {
            leaveOut(document.root.line(of: "paths") ?? 1, "paths", "\(others) \(others == 1 ? "operation is" : "operations are") no GET")
        }
    }

    private func draft(_ entry: ManifestMapping.Entry) {
        document.begin()
        do throws(Unsayable) {
            guard let item = try document.resolved(entry.value).value.mapping, let operation = item["get"]?.mapping else { return }
            guard resources.count < Self.mostResources else { throw Unsayable("it would be more than \(Self.mostResources) resources") }
            if item["servers"] != nil || operation["servers"] != nil { throw Unsayable("it is asked at another address than the rest (servers)") }
            guard entry.key.hasPrefix("/"), entry.key.utf8.count <= 500, !entry.key.contains(where: { "?# ".contains($0) }) else {
                throw Unsayable("its path cannot be asked for")
            }
            let resource = try self.resource(entry, item, operation)
            resources.append(resource)
        } catch {
            leaveOut(entry.line, "GET \(entry.key)", error.reason)
        }
    }

    private func resource(
        _ entry: ManifestMapping.Entry, _ item: ManifestMapping, _ operation: ManifestMapping
    ) throws(Unsayable) -> OpenAPIResource {
        let segments = entry.key.split(separator: "/").map(String.init)
        let words = segments.filter { !$0.contains("{") }, word = Self.word(words.last ?? source)
        let listing = try OpenAPIListing(of: operation, word: word, in: document)
        let parameters = try OpenAPIParameter.all(of: operation, path: item, in: document)
        let (parent, path, alias) = try self.parent(of: segments)
        let pages = OpenAPIPages(parameters, listing)
        var values = TOMLTable()
        for parameter in parameters where parameter.isRequired && parameter.place != "path" && !pages.used.contains(parameter.name) {
            if parameter.place == "header", ["accept", "authorization", "content-type"].contains(parameter.name.lowercased()) { continue }
            guard parameter.place == "query", let value = parameter.defaultValue else {
                throw Unsayable("it needs the \(parameter.place) parameter \"\(parameter.name)\", of which the document says no value")
            }
            values[parameter.name] = .text(value.replacing("{", with: "{{").replacing("}", with: "}}"))
        }
        let entity = try model.entity(of: listing.items, named: word)
        let taken = Set(resources.map(\.name))
        let wanted = (parent.map { [$0.name] } ?? []) + [word]
        let name = taken.contains(Names.resource(word)) ? Names.resource(wanted.joined(separator: "-")) : Names.resource(word)
        let resource = OpenAPIResource(
            name: Names.free(name) { !taken.contains($0) }, address: entry.key, line: entry.line, entity: entity, listing: listing, pages: pages)
        (resource.path, resource.parent, resource.alias, resource.parameters) = (path ?? entry.key, parent, alias, values)
        if operation["deprecated"]?.isTruthy == true { resource.remarks.append("The document calls it deprecated.") }
        if let own = operation["security"] {
            let answer = OpenAPISecurity(document: document, source: source).answer(own)
            if let reason = answer.reason {
                leaveOut(operation.line(of: "security") ?? entry.line, "GET \(entry.key)", "how requests identify themselves: \(reason)")
                resource.remarks.append("How requests identify themselves is left out: \(reason)")
            } else if answer.auth != auth {
                resource.auth = answer.auth
            }
            credentials += answer.credentials.filter { !credentials.contains($0) }
        }
        if let since = parameters.first(where: { $0.place == "query" && Self.sinces.contains(OpenAPIListing.plain($0.name)) }) {
            resource.remarks.append("It may be asked for what has changed with \"\(since.name)\".")
        }
        return resource
    }

    private static let sinces: Set = [
        "since", "updatedsince", "modifiedsince", "changedsince", "updatedafter", "modifiedafter", "updatedatmin", "lastmodified", "ifmodifiedsince",
        "updatedfrom", "startingfrom",
    ]

    private static func word(_ segment: String) -> String {
        for ending in [".json", ".xml"] where segment.hasSuffix(ending) { return String(segment.dropLast(ending.count)) }
        return segment
    }

    // MARK: Parents

    /// What lists the objects that a path is made of, the path with its place, and what the object is called there.
    private func parent(of segments: [String]) throws(Unsayable) -> (OpenAPIResource?, path: String?, alias: String) {
        let places = segments.indices.filter { segments[$0].contains("{") }
        guard let place = places.first else { return (nil, nil, "") }
        guard places.count == 1 else { throw Unsayable("its path has \(places.count) parameters: which objects they are of is not known") }
        let segment = segments[place], name = String(segment.dropFirst().dropLast())
        guard segment.hasPrefix("{"), segment.hasSuffix("}"), !name.contains("{") else {
            throw Unsayable("its parameter is only a part of \"\(segment)\"")
        }
        guard place < segments.count - 1 else { throw Unsayable("it answers for one object of a list") }
        guard place > 0 else { throw Unsayable("nothing stands before \"\(segment)\" that would list what it is of") }
        let prefix = "/" + segments[..<place].joined(separator: "/")
        guard let parent = resources.first(where: { $0.address == prefix || $0.address == prefix + "/" }) else {
            throw Unsayable("nothing that is drafted lists the objects of \(prefix) that \"\(name)\" would be of")
        }
        guard let entity = model.entities[parent.entity], let attribute = Self.attribute(name, of: entity) else {
            throw Unsayable("which property of \(parent.entity) \"\(name)\" is, is not known")
        }
        var alias = OpenAPIModel.plain(Names.singular(segments[place - 1])).filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        if alias.first?.isLetter != true || Template.times.contains(alias) { alias = "parent" }
        let form = attribute.type == "string" ? ":segment" : ""
        var path = segments
        path[place] = "{\(alias).\(attribute.name)\(form)}"
        return (parent, "/" + path.joined(separator: "/"), alias)
    }

    /// The attribute that a parameter is: of its name, or the key where it is called as that of the entity.
    private static func attribute(_ name: String, of entity: OpenAPIEntity) -> OpenAPIEntity.Attribute? {
        guard entity.key.count == 1, let key = entity.attribute(named: entity.key[0]) else {
            return entity.attributes.first { $0.path == [name] && $0.isRequired && isAddressable($0) }
        }
        let plain = OpenAPIModel.plain(name), kind = OpenAPIModel.plain(entity.name), keyName = OpenAPIModel.plain(key.path.last ?? "")
        if plain == keyName || plain == kind || plain == kind + keyName || plain == "id" { return key }
        if let stem = OpenAPIModel.stem(name), kind.hasSuffix(OpenAPIModel.plain(stem)) { return key }
        return entity.attributes.first { $0.path == [name] && $0.isRequired && isAddressable($0) }
    }

    private static func isAddressable(_ attribute: OpenAPIEntity.Attribute) -> Bool { ["int32", "int64", "string", "uuid"].contains(attribute.type) }

    /// Records of a part lead to their parent; where they may be called alike in two parts, the parent is of their key, too.
    private func assignParent(of resource: OpenAPIResource) {
        guard let parent = resource.parent, let entity = model.entities[resource.entity], let owner = model.entities[parent.entity] else { return }
        guard resources.count(where: { $0.entity == resource.entity }) == 1 else {
            resource.remarks.append("Several resources list \(entity.name), so that its records do not say of which part they are.")
            return
        }
        let alias = resource.alias
        if !entity.has(alias), !Names.attribute(alias, of: entity.name).isEmpty, Names.attribute(alias, of: entity.name) == alias, !owner.key.isEmpty
        {
            model.change(entity.name) {
                $0.relationships.append(.init(name: alias, path: [], target: owner.name, isMany: false, match: "auto", reason: nil))
            }
            resource.assigned[alias] = .text("{\(alias)}")
        }
        guard !entity.isKeyCertain, owner.key.count == 1, let key = owner.attribute(named: owner.key[0]), Self.isAddressable(key) else { return }
        // Records may say themselves of which part they are.
        let plain = OpenAPIModel.plain("\(alias)_\(key.name)")
        if let own = entity.attributes.first(where: { $0.path.count == 1 && OpenAPIModel.plain($0.path[0]) == plain }) {
            guard own.type == key.type, own.isRequired else { return }
            model.change(entity.name) {
                $0.key.append(own.name)
                $0.keyReason += " Two lists may have the same, so that \"\(own.name)\" is of the key."
            }
            return
        }
        let name = entity.free("\(alias)_\(key.name)")
        model.change(entity.name) {
            $0.attributes.append(.init(name: name, path: [], type: key.type, isRequired: true))
            $0.key.append(name)
            $0.keyReason += " Two lists may have the same, so that \"\(name)\" is of the key."
        }
        resource.assigned[name] = .text("{\(alias).\(key.name)}")
    }

    private static let changes: Set = [
        "updated", "updatedat", "updatedon", "modified", "modifiedat", "modifiedon", "lastmodified", "lastupdated", "changedat", "updatedtime",
    ]

    /// What asks for changes only stays a comment: what a service takes its parameter for is not described.
    private func remark(_ resource: OpenAPIResource) {
        guard let entity = model.entities[resource.entity], let last = resource.remarks.last(where: { $0.hasPrefix("It may be asked") }),
            let attribute = entity.attributes.first(where: { $0.type == "date" && Self.changes.contains(OpenAPIListing.plain($0.path.last ?? "")) })
        else { return }
        let parameter = last.split(separator: "\"").dropFirst().first.map(String.init) ?? "since"
        let keys = TOMLTable([("field", .text(JSONPath(keys: attribute.path).description)), ("since", .text(parameter))])
        resource.remarks.append("If that is so: incremental = \(keys.toml)")
    }

    // MARK: The text

    var usedEntities: [OpenAPIEntity] { model.closure(of: Set(resources.map(\.entity))) }

    var usedCredentials: [OpenAPIConversion.Credential] {
        let body = resources.isEmpty ? "" : text(of: resources)
        var seen: Set<String> = []
        return credentials.filter { body.contains("\"\($0.name)\"") && seen.insert($0.name).inserted }
    }

    func text(of resources: [OpenAPIResource]) -> String {
        var lines = ["version = 1", ""] + remarks.map { "# \(ConfigurationText.comment($0))" }
        lines += ["[[source]]", "name = \(TOMLValue.text(source).toml)", "base_url = \(TOMLValue.text(base).toml)"]
        if !auth.isEmpty { lines.append("auth = \(auth.toml)") }
        for resource in resources { lines += [""] + resource.lines }
        for entity in model.closure(of: Set(resources.map(\.entity))) { lines += [""] + entity.lines }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Leaves out what the reader of configurations refuses, and what has parts for it.
    private func leaveOutRefused() {
        // Nearly always nothing is, and one text has all of it.
        if check.problem(text(of: resources)) == nil { return }
        var refused: Set<String> = []
        for resource in resources {
            let problem =
                resource.lineage.contains { refused.contains($0.name) }
                ? "what it has parts for is left out" : check.problem(text(of: resource.lineage)).map { "this version cannot say it: \($0)" }
            guard let problem else { continue }
            refused.insert(resource.name)
            leaveOut(resource.line, "GET \(resource.address)", problem)
        }
        resources.removeAll { refused.contains($0.name) }
    }
}
