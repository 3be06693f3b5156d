import SyncConfiguration
import Testing

@testable import AirbyteManifests

/// Descriptions of services, and what becomes of them. Each rule has a document of its own.
@Suite struct OpenAPIConversionTests {
    /// The description of a service with one list, `/animals`, and what a test adds to it.
    struct Zoo {
        var head = "openapi: 3.0.3"
        var servers = "servers: [{ url: \"https://api.example.com/v1/\" }]"
        /// Beside the responses of the operation.
        var operation = ""
        /// Beside the content of its answer.
        var response = ""
        var schema = "{ type: array, items: { $ref: \"#/components/schemas/Animal\" } }"
        var properties = "id: { type: integer, format: int64 }"
        var required = "[id]"
        var schemas = ""
        var paths = ""
        var more = ""

        private static func indented(_ text: String, _ depth: Int) -> String {
            text.split(separator: "\n").map { String(repeating: " ", count: depth) + $0 }.joined(separator: "\n")
        }

        var text: String {
            """
            \(head)
            info: { title: Zoo API, version: "1" }
            \(servers)
            paths:
              /animals:
                get:
            \(Self.indented(operation, 6))
                  responses:
                    "200":
            \(Self.indented(response, 10))
                      content:
                        application/json:
                          schema: \(schema)
            \(Self.indented(paths, 2))
            \(more)
            components:
              schemas:
                Animal:
                  type: object
                  required: \(required)
                  properties:
            \(Self.indented(properties, 8))
            \(Self.indented(schemas, 4))
            """
        }

        func converted(address: String? = nil) throws -> OpenAPIConversion {
            try OpenAPIConversion(document: Array(text.utf8), file: "zoo.yaml", address: address)
        }

        /// The configuration that it becomes, as the reader of configurations has it.
        func configuration(address: String? = nil) throws -> CisternConfiguration {
            let conversion = try converted(address: address)
            let toml = try #require(conversion.toml, "\(conversion.leftOut)")
            let reading = ConfigurationReader(path: "/d.toml", files: ConfigurationTexts(["/d.toml": toml])).read()
            return try #require(reading.configuration, "\(reading.errors)\n\(toml)")
        }

        func animal() throws -> EntityConfiguration { try #require(try configuration().model.entity(named: "Animal")) }

        func animals() throws -> ResourceConfiguration { try #require(try configuration().resource(scope: "zoo/animals")) }
    }

    /// A path that answers a list of a schema.
    private static func list(_ path: String, of schema: String) -> String {
        "\(path): { get: { responses: { \"200\": { content: { application/json: { schema: { type: array, items: { $ref: \"#/components/schemas/\(schema)\" } } } } } } } }"
    }

    // MARK: Recognising

    @Test func aDescriptionIsRecognisedByItsMember() {
        func isOne(_ text: String) -> Bool { OpenAPIConversion.recognises(Array(text.utf8)) }
        #expect(isOne("{\"info\": {\"openapi\": \"no\"}, \"openapi\": \"3.1.0\"}") && isOne(" {\"swagger\" : \"2.0\"}"))
        #expect(isOne("# a comment\nopenapi: 3.0.0\n") && isOne("swagger: '2.0'") && isOne("\"openapi\": \"3.0.0\""))
        #expect(!isOne("[{\"openapi\": \"3.0.0\"}]") && !isOne("{\"data\": {\"openapi\": \"3.0.0\"}}") && !isOne("{\"name\": \"openapi\"}"))
        #expect(!isOne("{\"openapi\": true}") && !isOne("") && !isOne("items:\n  openapi: 3.0.0\n") && !isOne("{\"openapi"))
    }

    @Test(arguments: ["openapi: 4.0.0\npaths: {}", "openapi: 3.0.0", "swagger: \"1.2\"\npaths: {}", "openapi: 3.0.0\npaths: []", "[openapi: 3.0.0]"])
    func whatIsNoDescriptionIsRefused(_ text: String) {
        #expect(throws: ManifestError.self) { try OpenAPIConversion(document: Array(text.utf8), file: "zoo.yaml") }
    }

    // MARK: Lists

    @Test func aListBecomesAResource() throws {
        let conversion = try Zoo().converted()
        #expect(conversion.source == "zoo" && conversion.resources == ["animals"] && conversion.entities == ["Animal"])
        let resource = try Zoo().animals()
        #expect(resource.url == "https://api.example.com/v1/animals" && resource.entity == "Animal" && resource.records == nil)
    }

    @Test func aListInAnObjectIsFoundThere() throws {
        var zoo = Zoo()
        zoo.schema =
            "{ type: object, properties: { count: { type: integer }, animals: { type: array, items: { $ref: \"#/components/schemas/Animal\" } } } }"
        #expect(try zoo.animals().records?.description == "$.animals")
        zoo.schema = "{ properties: { result: { properties: { items: { type: array, items: { $ref: \"#/components/schemas/Animal\" } } } } } }"
        #expect(try zoo.animals().records?.description == "$.result.items")
    }

    @Test func whatAnswersNoListIsLeftOutWithTheReason() throws {
        var zoo = Zoo()
        zoo.paths = """
            /keeper: { get: { responses: { "200": { content: { application/json: { schema: { type: object, properties: { id: { type: integer } } } } } } } } }
            /names: { get: { responses: { "200": { content: { application/json: { schema: { type: array, items: { type: string } } } } } } } }
            /photo: { get: { responses: { "200": { content: { image/png: {} } } } }, post: { responses: {} } }
            /far: { get: { responses: { "200": { content: { application/json: { schema: { $ref: "other.yaml#/X" } } } } } } }
            /two: { get: { responses: { "200": { content: { application/json: { schema: { properties: { a: { $ref: "#/components/schemas/Animals" }, b: { $ref: "#/components/schemas/Animals" } } } } } } } } }
            """
        zoo.schemas = "Animals: { type: array, items: { $ref: \"#/components/schemas/Animal\" } }"
        let conversion = try zoo.converted()
        #expect(conversion.resources == ["animals"])
        let reasons = Dictionary(conversion.leftOut.map { ($0.subject, $0.reason) }) { first, _ in first }
        #expect(reasons["GET /keeper"] == "it answers one object, and no list of objects")
        #expect(reasons["GET /names"] == "it answers a list, but not of objects that are described")
        #expect(reasons["GET /photo"] == "what it answers is not described as JSON")
        #expect(reasons["GET /far"]?.contains("is not in this document, and is not fetched") == true)
        #expect(reasons["GET /two"]?.contains("several lists of objects (a, b)") == true)
        #expect(reasons["paths"]?.hasPrefix("1 operation is no GET") == true)
        #expect(conversion.toml?.contains("GET /keeper: it answers one object") == true)
        #expect(conversion.leftOut.allSatisfy { $0.line > 1 })
    }

    // MARK: Entities

    @Test func formatsBecomeTypes() throws {
        var zoo = Zoo()
        zoo.properties = """
            id: { type: integer }
            small: { type: integer, format: int32 }
            weight: { type: number }
            height: { type: number, format: double }
            isTame: { type: boolean }
            name: { type: string, enum: [a, b] }
            kind: { enum: [red, blue] }
            born: { type: string, format: date }
            seen_at: { type: string, format: date-time }
            tag: { type: string, format: uuid }
            page: { type: string, format: uri }
            photo: { type: string, format: byte }
            anything: {}
            names: { type: array, items: { type: string } }
            """
        let animal = try zoo.animal()
        let types = Dictionary(animal.attributes.map { ($0.name, $0.type.description) }) { first, _ in first }
        #expect(types["id"] == "int64" && types["small"] == "int32" && types["weight"] == "decimal" && types["height"] == "double")
        #expect(types["isTame"] == "bool" && types["name"] == "string" && types["kind"] == "string" && types["born"] == "date")
        #expect(types["seen_at"] == "date" && types["tag"] == "uuid" && types["page"] == "uri" && types["photo"] == "data(base64)")
        #expect(types["anything"] == "json" && types["names"] == "json")
    }

    @Test func whatIsRequiredAndNeverNullIsNotOptional() throws {
        var zoo = Zoo()
        zoo.required = "[id, name, nick, title]"
        zoo.properties = """
            id: { type: integer }
            name: { type: string }
            nick: { type: string, nullable: true }
            title: { type: [string, "null"] }
            note: { type: string }
            """
        let animal = try zoo.animal()
        #expect(animal.attributes.filter { !$0.isOptional }.map(\.name) == ["id", "name"])
        #expect(animal.attribute(named: "title")?.type == .string)
    }

    @Test func partsOfASchemaAreMerged() throws {
        var zoo = Zoo()
        zoo.schema = "{ type: array, items: { $ref: \"#/components/schemas/Lion\" } }"
        zoo.schemas = """
            Lion:
              allOf:
                - { $ref: "#/components/schemas/Animal" }
                - { type: object, required: [mane], properties: { mane: { type: string }, cubs: { anyOf: [{ type: integer }, { type: "null" }] } } }
            """
        let lion = try #require(try zoo.configuration().model.entity(named: "Lion"))
        #expect(lion.key == ["id"] && lion.attributes.map(\.name) == ["id", "mane", "cubs"])
        #expect(lion.attribute(named: "mane")?.isOptional == false && lion.attribute(named: "cubs")?.type == .int64)
    }

    @Test func theKeyIsARequiredMemberThatIsCalledSo() throws {
        var zoo = Zoo()
        zoo.required = "[code]"
        zoo.properties = "name: { type: string }\ncode: { type: string }"
        #expect(try zoo.animal().key == ["code"])
        #expect(try zoo.converted().toml?.contains("# \"code\" is required") == true)
        zoo.required = "[]"
        #expect(try zoo.animal().derivedKey == .content)
        zoo.properties = "animal_id: { type: string }"
        #expect(try zoo.animal().key == ["animal_id"])
        #expect(try zoo.converted().toml?.contains("does not say that it is always there") == true)
    }

    @Test func anObjectInsideBecomesAttributesOrAnEntityOfItsOwn() throws {
        var zoo = Zoo()
        zoo.properties = """
            id: { type: integer }
            cage: { type: object, properties: { row: { type: integer }, door: { type: object, properties: { lock: { type: string } } } } }
            keeper: { $ref: "#/components/schemas/Keeper" }
            friends: { type: array, items: { $ref: "#/components/schemas/Keeper" } }
            """
        zoo.schemas = "Keeper: { type: object, required: [id], properties: { id: { type: integer }, name: { type: string } } }"
        let configuration = try zoo.configuration(), animal = try #require(configuration.model.entity(named: "Animal"))
        #expect(animal.attributes.map(\.name) == ["id", "cage_row", "cage_door_lock"])
        #expect(animal.attribute(named: "cage_door_lock")?.paths.map(\.description) == ["$.cage.door.lock"])
        let keeper = try #require(animal.relationship(named: "keeper")), friends = try #require(animal.relationship(named: "friends"))
        #expect(keeper.destination == "Keeper" && keeper.match == .embedded && !keeper.isToMany && friends.isToMany)
        #expect(configuration.model.entity(named: "Keeper")?.key == ["id"])
    }

    @Test func aCircleBecomesARelationshipAndDepthHasAnEnd() throws {
        var zoo = Zoo()
        zoo.properties = "id: { type: integer }\nmother: { $ref: \"#/components/schemas/Animal\" }\nbox: { $ref: \"#/components/schemas/Box\" }"
        zoo.schemas = """
            Box: { type: object, properties: { size: { type: integer }, inner: { $ref: "#/components/schemas/Box" } } }
            Loop: { $ref: "#/components/schemas/Loop" }
            """
        let animal = try zoo.animal()
        #expect(animal.relationship(named: "mother")?.destination == "Animal")
        #expect(animal.attribute(named: "box_size")?.type == .int64 && animal.attribute(named: "box_inner")?.type == .json)
        zoo.properties = "id: { type: integer }\nloop: { $ref: \"#/components/schemas/Loop\" }"
        #expect(try zoo.animal().attributes.map(\.name) == ["id"])
        #expect(try zoo.converted().toml?.contains("# Left out: loop: its references lead in a circle") == true)
    }

    @Test func aNumberThatIsCalledAsAnotherEntitysKeyLeadsThere() throws {
        var zoo = Zoo()
        zoo.paths = Self.list("/keepers", of: "Keeper")
        zoo.schemas = "Keeper: { type: object, required: [id], properties: { id: { type: integer } } }"
        zoo.properties = "id: { type: integer }\nkeeper_id: { type: integer }\nstranger_id: { type: integer }"
        let animal = try zoo.animal(), keeper = try #require(animal.relationship(named: "keeper"))
        #expect(keeper.match == .key && keeper.destination == "Keeper" && keeper.paths.map(\.description) == ["$.keeper_id"])
        #expect(animal.relationships.count == 1 && animal.attribute(named: "keeper_id") != nil)
    }

    @Test func namesThatNoPropertyMayHaveAreWrittenOtherwise() throws {
        var zoo = Zoo()
        zoo.properties = "id: { type: integer }\ndescription: { type: string }\n\"a b\": { type: string }\n\"1st\": { type: string }"
        let animal = try zoo.animal()
        #expect(animal.attributes.map { $0.paths.first?.description ?? "$.\($0.name)" }.count == 4)
        #expect(animal.attribute(named: "animalDescription")?.paths.map(\.description) == ["$.description"])
        #expect(animal.attribute(named: "a_b")?.paths.map(\.description) == ["$['a b']"])
    }

    // MARK: Parts

    @Test func aListBelowAnotherHasPartsForItsObjects() throws {
        var zoo = Zoo()
        zoo.paths = Self.list("\"/animals/{animalId}/meals\"", of: "Meal")
        zoo.schemas = "Meal: { type: object, required: [number], properties: { number: { type: integer }, food: { type: string } } }"
        let configuration = try zoo.configuration(), meals = try #require(configuration.resource(scope: "zoo/meals"))
        #expect(meals.url == "https://api.example.com/v1/animals/{animal.id}/meals")
        #expect(meals.partitions?.parents?.resource == "zoo/animals" && meals.partitions?.alias == "animal")
        #expect(meals.assigned.map(\.name) == ["animal", "animal_id"])
        #expect(configuration.model.entity(named: "Meal")?.key == ["number", "animal_id"])
        #expect(configuration.model.entity(named: "Meal")?.relationship(named: "animal")?.destination == "Animal")
    }

    @Test func aPathWhoseParametersAreNotKnownIsLeftOut() throws {
        var zoo = Zoo()
        zoo.paths = [
            Self.list("\"/animals/{id}\"", of: "Animal"), Self.list("\"/cages/{id}/animals\"", of: "Animal"),
            Self.list("\"/animals/{id}/meals/{day}/foods\"", of: "Animal"), Self.list("\"/animals/{color}/foods\"", of: "Animal"),
            Self.list("/", of: "Animal"), Self.list("\"/{id}/foods\"", of: "Animal"),
        ].joined(separator: "\n")
        let reasons = Dictionary(try zoo.converted().leftOut.map { ($0.subject, $0.reason) }) { first, _ in first }
        #expect(reasons["GET /animals/{id}"] == "it answers for one object of a list")
        #expect(reasons["GET /cages/{id}/animals"]?.hasPrefix("nothing that is drafted lists the objects of /cages") == true)
        #expect(reasons["GET /animals/{id}/meals/{day}/foods"]?.hasPrefix("its path has 2 parameters") == true)
        #expect(reasons["GET /{id}/foods"]?.hasPrefix("nothing stands before") == true)
        #expect(reasons["GET /animals/{color}/foods"]?.contains("which property of Animal \"color\" is") == true)
    }

    // MARK: Parameters and pages

    @Test func aRequiredParameterNeedsAValue() throws {
        var zoo = Zoo()
        zoo.operation = "parameters: [{ name: zone, in: query, required: true, schema: { type: string, default: north } }]"
        #expect(try zoo.animals().parameters.map { "\($0.name)=\($0.value)" } == ["zone=north"])
        zoo.operation = "parameters: [{ name: zone, in: query, required: true, schema: { type: string } }]"
        let conversion = try zoo.converted()
        #expect(conversion.toml == nil && conversion.leftOut.contains { $0.reason.contains("query parameter \"zone\"") })
    }

    private static let envelope = """
        { type: object, properties: { items: { type: array, items: { $ref: "#/components/schemas/Animal" } }, next_url: { type: string },
        next_cursor: { type: string }, total: { type: integer }, has_more: { type: boolean } } }
        """.replacing("\n", with: " ")

    private static func parameters(_ names: String...) -> String {
        "parameters: ["
            + names.map { "{ name: \($0), in: query, schema: { type: \($0 == "cursor" ? "string" : "integer"), maximum: 50 } }" }.joined(
                separator: ", ") + "]"
    }

    @Test func pagesAreFoundByWhatTheirParametersAreCalled() throws {
        var zoo = Zoo()
        zoo.operation = Self.parameters("page", "per_page")
        guard case .page(let numbers) = try zoo.animals().pagination.kind else { return #expect(Bool(false), "no numbers") }
        #expect(numbers.parameter == "page" && numbers.sizeParameter == "per_page" && numbers.size == 50 && numbers.start == 1)
        zoo.operation = Self.parameters("offset", "limit")
        guard case .offset(let offset) = try zoo.animals().pagination.kind else { return #expect(Bool(false), "no offset") }
        #expect(offset.parameter == "offset" && offset.limitParameter == "limit" && offset.limit == 50)
        zoo.operation = ""
        #expect(try zoo.animals().pagination.kind == .none)
    }

    // A draft that begins at 1 where pages are counted from 0 never reads the first one.
    @Test func whereNobodySaysWhatTheFirstPageIsTheDraftSaysSo() throws {
        var zoo = Zoo()
        let doubt = "does not say whether from 0 or from 1"
        zoo.operation = Self.parameters("page")
        #expect(try zoo.converted().toml?.contains(doubt) == true)
        for said in ["default: 1", "minimum: 0", "default: 0, minimum: 0"] {
            zoo.operation = "parameters: [{ name: page, in: query, schema: { type: integer, \(said) } }]"
            let toml = try #require(try zoo.converted().toml)
            #expect(!toml.contains(doubt), "\(toml)")
        }
    }

    @Test func pagesAreFoundByWhatTheAnswerHolds() throws {
        var zoo = Zoo()
        zoo.schema = Self.envelope.replacing("next_url: { type: string },", with: "")
        zoo.operation = Self.parameters("cursor")
        let resource = try zoo.animals()
        guard case .cursor(let cursor) = resource.pagination.kind else { return #expect(Bool(false), "no cursor") }
        #expect(cursor.parameter == "cursor" && cursor.origin == .path(JSONPath(keys: ["next_cursor"])))
        #expect(resource.pagination.stop.total?.description == "$.total" && resource.pagination.stop.hasMore?.description == "$.has_more")
        zoo.schema = Self.envelope
        #expect(try zoo.animals().pagination.kind == .bodyLink(path: JSONPath(keys: ["next_url"])))
        zoo.response = "headers: { Link: { schema: { type: string } } }"
        #expect(try zoo.animals().pagination.kind == .linkHeader(relation: "next"))
    }

    @Test func whatMayAskForChangesIsACommentOnly() throws {
        var zoo = Zoo()
        zoo.operation = "parameters: [{ name: updated_since, in: query, schema: { type: string, format: date-time } }]"
        zoo.properties = "id: { type: integer }\nupdated_at: { type: string, format: date-time }"
        #expect(try zoo.animals().incremental == nil)
        #expect(try zoo.converted().toml?.contains("# If that is so: incremental = { field = \"$.updated_at\", since = \"updated_since\" }") == true)
    }

    // MARK: Authentication and addresses

    private func authentication(_ scheme: String, _ requirement: String = "[{ it: [] }]") throws -> (OpenAPIConversion, AuthenticationConfiguration) {
        var zoo = Zoo()
        zoo.more = "security: \(requirement)"
        var text = zoo.text
        text += "\n  securitySchemes:\n    it: \(scheme)\n"
        let conversion = try OpenAPIConversion(document: Array(text.utf8), file: "zoo.yaml")
        let reading = ConfigurationReader(path: "/d.toml", files: ConfigurationTexts(["/d.toml": try #require(conversion.toml)])).read()
        let resource = try #require(reading.configuration?.resource(scope: "zoo/animals"), "\(reading.errors)")
        return (conversion, resource.authentication)
    }

    @Test func schemesBecomeCredentials() throws {
        let bearer = try authentication("{ type: http, scheme: bearer }")
        guard case .bearer(let token) = bearer.1 else { return #expect(Bool(false), "no bearer") }
        #expect(token.token == .credential("zoo_token") && bearer.0.credentials.map(\.name) == ["zoo_token"])
        #expect(bearer.0.toml?.contains("#   zoo_token: the token that is sent after Bearer") == true)
        let basic = try authentication("{ type: http, scheme: basic }")
        #expect(basic.0.credentials.map(\.name) == ["zoo_username", "zoo_password"])
        guard case .apiKey(let key) = try authentication("{ type: apiKey, in: query, name: api_key }").1 else {
            return #expect(Bool(false), "no key")
        }
        #expect(key.name == "api_key" && key.place == .query)
        let oauth = "{ type: oauth2, flows: { clientCredentials: { tokenUrl: \"https://login.example.com/token\", scopes: {} } } }"
        guard case .oauth2(let client) = try authentication(oauth, "[{ it: [read] }]").1 else { return #expect(Bool(false), "no client") }
        #expect(client.grant == .clientCredentials && client.tokenURL == "https://login.example.com/token" && client.scopes == ["read"])
    }

    @Test func aSchemeThatCannotBeSaidIsLeftOutWithTheReason() throws {
        let consent = try authentication("{ type: oauth2, flows: { authorizationCode: { tokenUrl: \"https://l.example/t\", scopes: {} } } }")
        #expect(consent.1 == .none && consent.0.leftOut.contains { $0.subject == "security" && $0.reason.contains("a person who consents") })
        let other = try authentication("{ type: mutualTLS }", "[{ it: [] }, { missing: [] }]")
        #expect(other.0.leftOut.contains { $0.reason == "it: mutualTLS cannot be said; missing: it is not described" })
    }

    @Test func whatEachOperationSaysForItselfTheSourceSays() throws {
        var zoo = Zoo()
        zoo.operation = "security: [{ it: [] }]"
        let text = zoo.text + "\n  securitySchemes: { it: { type: http, scheme: bearer } }\n"
        let toml = try #require(try OpenAPIConversion(document: Array(text.utf8), file: "zoo.yaml").toml)
        #expect(toml.split(separator: "auth = ").count == 2)
        let configuration = try #require(ConfigurationReader(path: "/d.toml", files: ConfigurationTexts(["/d.toml": toml])).read().configuration)
        guard case .bearer = try #require(configuration.resource(scope: "zoo/animals")).authentication else {
            return #expect(Bool(false), "\(toml)")
        }
    }

    @Test func theAddressComesFromTheServers() throws {
        var zoo = Zoo()
        zoo.servers =
            "servers: [{ url: \"https://{place}.example.com/api\", variables: { place: { default: eu } } }, { url: \"https://test.example.com\" }]"
        #expect(try zoo.animals().url == "https://eu.example.com/api/animals")
        #expect(try zoo.converted().leftOut.contains { $0.reason == "another address: https://test.example.com" })
        zoo.servers = "servers: [{ url: /v2 }]"
        #expect(try zoo.configuration(address: "https://a.example/docs/openapi.json").sources[0].resources[0].url == "https://a.example/v2/animals")
        #expect(try zoo.animals().url == "https://fill-in.example/animals")
        #expect(try zoo.converted().leftOut.contains { $0.reason.contains("write it as base_url") })
    }

    @Test func swaggerIsReadAsWell() throws {
        let text = """
            swagger: "2.0"
            info: { title: Zoo }
            host: api.example.com
            basePath: /v1
            securityDefinitions: { it: { type: apiKey, in: header, name: X-Key } }
            security: [{ it: [] }]
            paths:
              /animals:
                get:
                  parameters: [{ name: page, in: query, type: integer }, { name: limit, in: query, type: integer, default: 20 }]
                  responses: { "200": { schema: { type: array, items: { $ref: "#/definitions/Animal" } } } }
            definitions:
              Animal: { type: object, required: [id], properties: { id: { type: integer }, name: { type: string, x-nullable: true } } }
            """
        let conversion = try OpenAPIConversion(document: Array(text.utf8), file: "zoo.yaml")
        let reading = ConfigurationReader(path: "/d.toml", files: ConfigurationTexts(["/d.toml": try #require(conversion.toml)])).read()
        let resource = try #require(reading.configuration?.resource(scope: "zoo/animals"), "\(reading.errors)")
        #expect(resource.url == "https://api.example.com/v1/animals" && resource.entity == "Animal")
        guard case .page(let numbers) = resource.pagination.kind, case .apiKey(let key) = resource.authentication else {
            return #expect(Bool(false), "\(resource)")
        }
        #expect(numbers.sizeParameter == "limit" && numbers.size == 100 && key.name == "X-Key")
    }

    // MARK: Hostile documents

    @Test func partsOfPartsEndWithAReason() throws {
        var zoo = Zoo()
        let parts = (0..<15).map {
            "S\($0): { allOf: [" + Array(repeating: "{ $ref: \"#/components/schemas/S\($0 + 1)\" }", count: 8).joined(separator: ", ") + "] }"
        }
        zoo.schemas = (parts + ["S15: { type: object, properties: { a: { type: string } } }"]).joined(separator: "\n")
        zoo.paths = Self.list("/bombs", of: "S0")
        let conversion = try zoo.converted()
        #expect(conversion.leftOut.contains { $0.subject == "GET /bombs" && $0.reason.contains("more than can be followed") })
    }

    // However many resources there are.
    @Test func aDraftWithoutFaultsIsReadAsOneText() throws {
        var zoo = Zoo()
        zoo.paths = (1...20).map { number in
            let schema = "{ type: array, items: { $ref: \"#/components/schemas/Animal\" } }"
            return "/list\(number):\n  get:\n    responses:\n      \"200\": { content: { application/json: { schema: \(schema) } } }"
        }.joined(separator: "\n")
        var count = 0
        let conversion = try OpenAPIConversion(document: Array(zoo.text.utf8), file: "zoo.yaml") { _ in
            count += 1
            return nil
        }
        #expect(conversion.resources.count == 21 && count == 2, "\(conversion.leftOut)")
    }

    // Looking for each property among all that there are takes hours.
    @Test(.timeLimit(.minutes(1))) func aSchemaMayHaveAnyNumberOfProperties() {
        var shape = OpenAPISchema.Shape(), other = OpenAPISchema.Shape()
        for number in 0..<300_000 { shape.take(.init(name: "p\(number)", schema: ManifestValue(.null, line: 1))) }
        for number in 150_000..<450_000 { other.take(.init(name: "p\(number)", schema: ManifestValue(.null, line: 2))) }
        shape.take(other)
        #expect(shape.properties.count == 450_000 && shape["p0"]?.line == 1 && shape["p200000"]?.line == 2)
        #expect(shape.properties[200_000].name == "p200000" && shape["q"] == nil)
    }

    @Test func whatIsInADocumentStaysInItsCommentsAndTexts() throws {
        var zoo = Zoo()
        zoo.properties = "id: { type: integer }\n\"x\\\"]\\n[evil]\": { type: string }"
        zoo.paths = "\"/a\\nb = 1\": { get: { responses: {} } }"
        let conversion = try zoo.converted()
        #expect(conversion.toml?.contains("\n[evil]") == false && conversion.toml?.contains("\nb = 1") == false)
        #expect(conversion.resources == ["animals"])
    }
}
