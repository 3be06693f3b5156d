import Testing

@testable import SyncConfiguration

@Suite struct MergeTests {
    @Test func dropInsAreLaidOverTheMainFileInTheOrderOfTheirNames() throws {
        let result = try configuration(
            "[daemon]\nname = \"a\"\ncontact = \"me\"\n",
            dropIns: ["20.toml": "[daemon]\nname = \"c\"\n", "10.toml": "[daemon]\nname = \"b\"\n"])
        #expect(result.daemon.name == "c")
        #expect(result.daemon.contact == "me")
    }

    @Test func sourcesAndResourcesAreMergedByName() throws {
        let main =
            itemModel + """
                [[source]]
                name = "a"
                base_url = "https://a.example"
                  [[source.resource]]
                  name = "x"
                  path = "/x"
                  entity = "Item"
                  [[source.resource]]
                  name = "y"
                  path = "/y"
                  entity = "Item"
                """
        let later = """
            [[source]]
            name = "b"
            url = "https://b.example/"
            entity = "Item"
            [[source]]
            name = "a"
            schedule.every = "1h"
              [[source.resource]]
              name = "y"
              enabled = false
              [[source.resource]]
              name = "z"
              path = "/z"
              entity = "Item"
            """
        let result = try configuration(main, dropIns: ["10.toml": later])
        #expect(result.sources.map(\.name) == ["a", "b"])
        #expect(result.sources[0].resources.map(\.name) == ["x", "y", "z"])
        #expect(result.sources[0].resources.map(\.isEnabled) == [true, false, true])
        #expect(result.sources[0].resources.allSatisfy { $0.schedule.every == .hours(1) })
    }

    @Test func entitiesAreMergedByNameAndPropertiesKeyByKey() throws {
        let result = try configuration(
            itemModel, dropIns: ["10.toml": "[entity.Item.attributes]\ncode.index = true\nextra = { type = \"bool\" }\n"])
        let item = try #require(result.model.entity(named: "Item"))
        #expect(item.attributes.map(\.name) == ["id", "code", "extra"])
        #expect(item.attribute(named: "code")?.isIndexed == true)
        #expect(item.attribute(named: "code")?.type == .string)
    }

    @Test func aComplaintNamesTheFileTheValueStandsIn() {
        let found = errors("[daemon]\nname = \"a\"\n", dropIns: ["10.toml": "\n[daemon]\nstart = 1\n"])
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("/c/conf.d/10.toml:3: daemon.start: ") == true)
    }

    @Test func theSameNameTwiceInOneFileIsAnError() {
        let twice = "[[source]]\nname = \"items\"\nurl = \"https://b.example/\"\nentity = \"Item\"\n"
        #expect(errors(itemSource + twice).first?.contains("two sources have this name, the first in /c/cisternd.toml, line 4") == true)
        #expect(errors(itemModel, dropIns: ["10.toml": twice + twice]).count == 1)
        #expect(errors(itemSource, dropIns: ["10.toml": twice + twice]).count == 1)
        let resource = "[[source.resource]]\nname = \"r\"\npath = \"/r\"\nentity = \"Item\"\n"
        let source = itemModel + "[[source]]\nname = \"s\"\nbase_url = \"https://b.example\"\n"
        #expect(errors(source + resource + resource).first?.contains("source \"s\": resource \"r\": two resources") == true)
    }
}
