import Testing

@testable import SyncConfiguration

@Suite struct ConfigurationDifferenceTests {
    private let base =
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
    private let other = "[[source]]\nname = \"b\"\nurl = \"https://b.example/\"\nentity = \"Item\"\n"

    private func difference(_ old: String, _ new: String) throws -> ConfigurationDifference {
        ConfigurationDifference(from: try configuration(old), to: try configuration(new))
    }

    @Test func theSameConfigurationDiffersInNothing() throws {
        #expect(try difference(base, "# a comment\n" + base).isEmpty)
        #expect(try difference("", ResolvedConfiguration.builtIn.toml()).isEmpty)
    }

    @Test func addedAndRemovedSourcesAreNamedWithTheirResources() throws {
        let added = try difference(base, base + other)
        #expect(added.addedSources == ["b"])
        #expect(added.addedResources == ["b/b"])
        #expect(added.changedResources == [] && added.removedResources == [] && !added.modelChanged)
        let removed = try difference(base + other, base)
        #expect(removed.removedSources == ["b"] && removed.removedResources == ["b/b"])
    }

    @Test func aChangeAtOneResourceLeavesTheOthersAlone() throws {
        let changed = try difference(base, base + "schedule.every = \"1h\"\n")
        #expect(changed.changedResources == ["a/y"])
        #expect(changed.changedSources == ["a"])
        #expect(try difference(base, "[defaults.schedule]\nevery = \"1h\"\n" + base).changedResources == ["a/x", "a/y"])
    }

    @Test func modelChangesAreSeenPerEntity() throws {
        let changed = try difference(base, base.replacing("type = \"string\"", with: "type = \"uuid\""))
        #expect(changed.modelChanged && changed.changedEntities == ["Item"])
        #expect(try difference(base, "[model]\nversion = 2\n" + base).modelChanged)
    }

    @Test func settingsThatNeedARestartAreNamed() throws {
        let changed = try difference(
            "",
            "[store]\nsynchronous = \"normal\"\n[document]\npath = \"/d\"\nautosave_changes = 1\n[daemon]\nname = \"n\"\n[control]\nsocket = \"/s\"\n"
        )
        #expect(changed.restartSettings == ["document.path", "control.socket"])
        #expect(changed.storeSettings == ["store.synchronous"] && changed.reopensDocument)
        #expect(changed.changedSettings == ["daemon.name", "document.autosave_changes"])
        #expect(changed.needsRestart)
    }

    @Test func backupsAreMadeAnotherWayWithoutClosingTheDocument() throws {
        let changed = try difference("", "[store]\nbackup = { every = \"24h\", keep = 3 }\n")
        #expect(changed.changedSettings == ["store.backup.every", "store.backup.keep"] && !changed.reopensDocument && !changed.needsRestart)
    }
}
