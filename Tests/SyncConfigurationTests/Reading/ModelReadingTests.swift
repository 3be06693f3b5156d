import Foundation
import JSONPaths
import Testing

@testable import SyncConfiguration

@Suite struct ModelReadingTests {
    static let github = """

        [entity.Repository]
        key = ["id"]
          [entity.Repository.attributes]
          id = { path = "$.id", type = "int64", optional = false }
          fullName = { path = "$.full_name", type = "string", index = true }
          archived = { path = "$.archived", type = "bool", default = false }
          pushedAt = { path = "$.pushed_at", type = "date", format = "%Y-%m-%d", default = "2001-01-01" }
          topics = { path = "$.topics", type = "json" }
          sizeKB = { path = ["$.size_kb", "/size"], type = "int64" }
          price = { type = "decimal", default = "12.50" }
          token = { type = "uuid", default = "00000000-0000-0000-0000-000000000001" }
          picture = { type = "data(hex)" }
          [entity.Repository.relationships]
          owner = { to = "User", path = "$.owner", match = "embedded", on_delete = "nullify" }
          issues = { to = "Issue", many = true, ordered = true, inverse = "repository", on_delete = "cascade" }
        [entity.User.attributes]
        remoteID = { path = "$.id", type = "int64" }
        [entity.Issue.attributes]
        id = { type = "int64" }
        [entity.Issue.relationships]
        repository = { to = "Repository" }
        parent = { to = "Issue", path = "$.parent_id", match = "key", unresolved = "stub" }
        """

    private func found(_ text: String) -> String { errors(text).joined(separator: "\n") }

    @Test func entitiesAreReadInTheirOrderWithEverythingTheySay() throws {
        let model = try configuration(Self.github).model
        #expect(model.entities.map(\.name) == ["Repository", "User", "Issue"])
        let repository = try #require(model.entity(named: "Repository"))
        #expect(
            repository.attributes.map(\.name) == [
                "id", "fullName", "archived", "pushedAt", "topics", "sizeKB", "price", "token", "picture",
            ])
        #expect(repository.attribute(named: "id")?.isOptional == false)
        #expect(repository.attribute(named: "archived")?.defaultValue == .bool(false))
        #expect(repository.attribute(named: "pushedAt")?.format == .pattern("%Y-%m-%d"))
        #expect(repository.attribute(named: "pushedAt")?.defaultValue == .date(Date(timeIntervalSince1970: 978_307_200)))
        #expect(repository.attribute(named: "sizeKB")?.paths.map(\.description) == ["$.size_kb", "$.size"])
        #expect(repository.attribute(named: "price")?.defaultValue == .decimal(Decimal(string: "12.5")!))
        #expect(repository.attribute(named: "picture")?.type == .data(.hex))
        #expect(repository.relationship(named: "issues")?.isOrdered == true)
        #expect(repository.relationship(named: "issues")?.onDelete == .cascade)
    }

    @Test func aKeyNobodyNamesIsIdOrRemoteID() throws {
        let model = try configuration(Self.github).model
        #expect(model.entity(named: "User")?.key == ["remoteID"])
        #expect(model.entity(named: "Issue")?.key == ["id"])
        #expect(
            found("[entity.X.attributes]\ncode = { type = \"string\" }\n").contains(
                "entity \"X\": key: there is no key, and no attribute \"id\" or \"remoteID\"; write key = [\"code\"]"))
        #expect(found("[entity.X]\n").contains("there is no key"))
    }

    @Test func aKeyIsMadeOfAttributesThatCanBeCompared() {
        let text =
            "[entity.X]\nkey = [\"KEY\"]\n[entity.X.attributes]\nid = { type = \"int64\" }\nblob = { type = \"json\" }\n[entity.X.relationships]\nup = { to = \"X\" }\n"
        #expect(found(text.replacing("KEY", with: "idd")).contains("\"idd\" is not an attribute of \"X\"; did you mean \"id\"?"))
        #expect(found(text.replacing("KEY", with: "blob")).contains("cannot be a key"))
        #expect(found(text.replacing("KEY", with: "up")).contains("a key is made of attributes"))
        #expect(found(text.replacing("KEY", with: "id")).isEmpty)
    }

    @Test func aVersionIsAnAttributeWithAnOrder() throws {
        func text(_ name: String) -> String {
            "[entity.X]\nversion_field = \"\(name)\"\n[entity.X.attributes]\nid = { type = \"int64\" }\nchanged = { type = \"date\" }\n"
                + "flag = { type = \"bool\" }\nhidden = { type = \"int64\", read = false }\n"
        }
        #expect(try configuration(text("changed")).model.entity(named: "X")?.versionField == "changed")
        #expect(found(text("chagned")).contains("\"X\" has no attribute \"chagned\"; did you mean \"changed\"?"))
        #expect(found(text("flag")).contains("\"flag\" is of the type bool, which does not say what is later"))
        #expect(found(text("id")).contains("\"id\" is of the key"))
        #expect(found(text("hidden")).contains("\"hidden\" has read = false, so that no record says it"))
        #expect(try #require(read(text("changed")).resolved).toml().contains("version_field = \"changed\""))
    }

    @Test func anInverseOneSideDeclaresIsImpliedAtTheOther() throws {
        let model = try configuration(Self.github).model
        #expect(model.entity(named: "Repository")?.relationship(named: "issues")?.inverse == .declared("repository"))
        #expect(model.entity(named: "Issue")?.relationship(named: "repository")?.inverse == .implied("issues"))
        #expect(model.entity(named: "Issue")?.relationship(named: "parent")?.inverse == RelationshipConfiguration.Inverse.none)
    }

    @Test func relationshipsMustLeadSomewhereAndBack() {
        func relationships(_ a: String, _ b: String = "") -> String {
            found(
                "[entity.A.attributes]\nid = { type = \"int64\" }\n[entity.B.attributes]\nid = { type = \"int64\" }\n[entity.A.relationships]\n\(a)\n[entity.B.relationships]\n\(b)\n"
            )
        }
        #expect(
            relationships("b = { to = \"BB\" }").contains(
                "entity \"A\": relationship \"b\": to: there is no entity \"BB\"; did you mean \"B\"?"))
        #expect(
            relationships("b = { to = \"B\", inverse = \"sa\" }", "as = { to = \"A\" }").contains(
                "\"B\" has no relationship \"sa\"; did you mean \"as\"?"))
        #expect(relationships("b = { to = \"B\", inverse = \"x\" }").contains("declare it: [entity.B.relationships] x = { to = \"A\" }"))
        #expect(
            relationships("b = { to = \"B\", inverse = \"b\" }", "b = { to = \"B\" }").contains("\"B.b\" leads to \"B\", not back to \"A\"")
        )
        #expect(
            relationships("b = { to = \"B\", inverse = \"a\" }\nc = { to = \"B\" }", "a = { to = \"A\", inverse = \"c\" }").contains(
                "\"B.a\" has the inverse \"c\""))
        #expect(
            relationships("b = { to = \"B\", inverse = \"a\" }\nc = { to = \"B\", inverse = \"a\" }", "a = { to = \"A\" }").contains(
                "is already the inverse of \"b\""))
        #expect(relationships("b = { to = \"B\", ordered = true }").contains("write many = true"))
        #expect(relationships("b = { to = \"B\", match = \"keys\" }").contains("did you mean \"key\"?"))
        #expect(relationships("b = { to = \"B\", many = true, match = \"key\" }").contains("did you mean \"keys\"?"))
        #expect(relationships("b = { path = \"$.b\" }").contains("\"to\" is missing"))
        #expect(relationships("b = { to = \"B\", inverse = \"a\" }", "a = { to = \"A\", inverse = \"b\" }").isEmpty)
        #expect(relationships("up = { to = \"A\", inverse = \"down\" }\ndown = { to = \"A\", many = true }").isEmpty)
    }

    @Test func aKeyOfSeveralAttributesIsNotMatchedByOneValue() {
        let text =
            "[entity.A]\nkey = [\"x\", \"y\"]\nattributes = { x = { type = \"string\" }, y = { type = \"string\" } }\nrelationships.a = { to = \"A\", match = \"key\" }\n"
        #expect(found(text).contains("has a key of 2 attributes"))
        #expect(found(text.replacing("\"key\" }", with: "\"embedded\" }")).isEmpty)
    }

    // sync §8
    @Test func twoPropertiesMayNotClaimTheSameKeyByName() {
        func attributes(_ text: String) -> String { found("[entity.User.attributes]\nid = { type = \"int64\" }\n\(text)\n") }
        #expect(
            attributes("firstName = { type = \"string\" }\nfirst_name = { type = \"string\" }").contains(
                "both claim the JSON key \"first_name\"; write a path at both"))
        #expect(
            attributes("name = { type = \"string\" }\ntitle = { path = \"$.name\", type = \"string\" }").contains(
                "both claim the JSON key \"name\"; write a path at \"name\""))
        #expect(attributes("userID = { type = \"string\" }\nuserId = { path = \"$.user\", type = \"string\" }").contains("only in case"))
        #expect(attributes("a = { path = \"$.x\", type = \"string\" }\nb = { path = \"$.x\", type = \"json\" }").isEmpty)
        #expect(attributes("a = { type = \"string\" }\nb = { path = \"$.a.b\", type = \"json\" }").isEmpty)
        #expect(attributes("userType = { type = \"string\" }\ntype = { type = \"string\" }").contains("claim the JSON key \"type\""))
    }

    @Test func namesMustBeUsable() {
        func attribute(_ name: String) -> String {
            found("[entity.User.attributes]\nid = { type = \"int64\" }\n\(name) = { type = \"string\" }\n")
        }
        #expect(attribute("description").contains("call it \"userDescription\", which matches the JSON key \"description\" as well"))
        #expect(attribute("_hidden").contains("is not a name"))
        #expect(attribute("\"full name\"").contains("is not a name"))
        #expect(attribute("ID").contains("only in case"))
        #expect(
            found("[entity.A.attributes]\nid = { type = \"int64\" }\n[entity.A.relationships]\nid = { to = \"A\" }\n").contains(
                "an attribute already has this name"))
        func entity(_ name: String) -> String {
            found("[entity.City.attributes]\nid = { type = \"int64\" }\n[entity.\(name).attributes]\nid = { type = \"int64\" }\n")
        }
        #expect(entity("CITY").contains("only in case"))
        #expect(entity("ZCity").contains("the table of \"City\" already has this name"))
        #expect(entity("cistern_status").contains("reserved for the database"))
        #expect(entity("CisternRun").contains("reserved for the database") && entity("Cistern").contains("reserved for the database"))
        #expect(attribute("cisternHash").contains("bookkeeping of every row") && attribute("CisternRun").contains("bookkeeping of every row"))
        #expect(entity("Z_PrimaryKey").contains("reserved for the database"))
        #expect(entity("\"a-b\"").contains("is not a name"))
        #expect(entity("Zone").isEmpty)
    }

    @Test func anAttributeNeedsATypeAndMayHaveADefaultOfIt() {
        func attribute(_ text: String) -> String { found("[entity.A.attributes]\nid = { type = \"int64\" }\nx = \(text)\n") }
        #expect(attribute("{ path = \"$.x\" }").contains("attribute \"x\": \"type\" is missing"))
        #expect(attribute("\"string\"").contains("write { type = \"string\" }"))
        #expect(attribute("{ type = \"integer\" }").contains("did you mean \"int64\"?"))
        #expect(attribute("{ type = \"int16\", default = 40000 }").contains("default: 40000 does not fit into int16"))
        #expect(attribute("{ type = \"string\", format = \"unix\" }").contains("only dates have a format"))
        #expect(attribute("{ type = \"json\", index = true }").contains("cannot be indexed"))
        let wrong = [
            ("int64", "\"1\""), ("int32", "1.5"), ("bool", "0"), ("string", "1"), ("double", "\"1\""), ("double", "nan"),
            ("decimal", "\"1,5\""),
            ("date", "\"yesterday\""), ("date", "2001-01-01"), ("uuid", "\"1\""), ("uri", "1"), ("json", "1"), ("data", "\"AA==\""),
            ("int64", "[]"),
        ]
        for (type, value) in wrong {
            #expect(attribute("{ type = \"\(type)\", default = \(value) }").contains("x\": default"), "\(type) \(value)")
        }
        for (type, value) in [
            ("int16", "-1"), ("double", "1"), ("decimal", "1e2"), ("string", "\"\""), ("uri", "\"https://a.b/\""), ("data", ""),
        ] {
            let entry = value.isEmpty ? "" : ", default = \(value)"
            #expect(attribute("{ type = \"\(type)\"\(entry) }").isEmpty, "\(type) \(value)")
        }
    }

    private static let changed = """
        [entity.Town]
        renamed_from = "City"
        key = ["id"]
          [entity.Town.attributes]
          id = { type = "int64", renamed_from = "code" }
          mayor = { drop = true }
          size = { type = "int64", drop = true }
          [entity.Town.relationships]
          country = { to = "Country", renamed_from = "nation" }
          river = { drop = true }
        [entity.River]
        drop = true
          [entity.River.attributes]
          id = { type = "int64" }
        [entity.Country.attributes]
        id = { type = "int64" }
        """

    @Test func whatWasCalledOtherwiseAndWhatMayGoIsNoPartOfAnEntity() throws {
        let model = try configuration(Self.changed).model
        #expect(model.entities.map(\.name) == ["Town", "Country"])
        #expect(model.entity(named: "Town")?.attributes.map(\.name) == ["id"])
        #expect(model.entity(named: "Town")?.relationships.map(\.name) == ["country"])
        #expect(model.renamed == ["Town": "City", "Town.id": "code", "Town.country": "nation"])
        #expect(model.dropped == ["River", "Town.mayor", "Town.size", "Town.river"])
        // Both change nothing of what a record becomes.
        let plain = try configuration(Self.changed.replacing("renamed_from = \"City\"\n", with: "").replacing(", renamed_from = \"code\"", with: ""))
            .model
        #expect(plain.entities == model.entities)
    }

    @Test func anEntityThatIsDroppedCannotBeLedTo() {
        #expect(found(Self.changed.replacing("river = { drop = true }", with: "river = { to = \"River\" }")).contains("River"))
    }

    private func members(_ table: String) -> String {
        """

        [entity.Customer.attributes]
        id = { type = "int64" }
        [entity.Customer.relationships]
        subscriptions = { to = "Subscription", \(table) }
        [entity.Subscription.attributes]
        id = { type = "int64" }
        """
    }

    @Test func whatBecomesOfOtherMembersIsRead() throws {
        func relationship(_ table: String) throws -> RelationshipConfiguration? {
            try configuration(members(table)).model.entity(named: "Customer")?.relationship(named: "subscriptions")
        }
        #expect(try relationship("many = true")?.mode == .replace)
        #expect(try relationship("many = true")?.partialPath == nil)
        #expect(try relationship("many = true, mode = \"merge\"")?.mode == .merge)
        #expect(try relationship("many = true, ordered = true, mode = \"append\"")?.mode == .append)
        #expect(try relationship("many = true, partial_if = \"$.subscriptions.has_more\"")?.partialPath == "$.subscriptions.has_more")
    }

    @Test(arguments: [
        (#"mode = "merge""#, "only a to-many relationship has members"), (#"partial_if = "$.more""#, "only a to-many relationship has members"),
        (#"many = true, mode = "append""#, "members without an order have no end to append to"),
        (#"many = true, read = false, mode = "merge""#, "with read = false records say nothing of the members"),
        (#"many = true, mode = "merge", partial_if = "$.more""#, "no member is taken away in any case"),
    ])
    func aModeThatMeansNothingIsRefused(table: String, complaint: String) {
        let found = errors(members(table))
        #expect(found.count == 1 && found.first?.contains(complaint) == true, "\(found)")
    }

    @Test func theResolvedConfigurationSaysWhatBecomesOfOtherMembers() throws {
        let resolved = try #require(read(members("many = true, partial_if = \"/subscriptions/has_more\"")).resolved)
        let value = resolved.settings.first { $0.keyPath == "entity.Customer.relationships.subscriptions" }?.value
        #expect(value?.contains("mode = \"replace\", partial_if = \"$.subscriptions.has_more\"") == true, "\(value ?? "")")
    }
}
