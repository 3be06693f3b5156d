import Testing

@testable import SyncConfiguration

@Suite struct CapabilityTests {
    // What it is said of is read; what is refused belongs to a later version, and is named so.
    @Test func onlyWhatALaterVersionHasIsMissing() {
        let missing = Capability.all.filter { !$0.isSupported }.map(\.name).sorted()
        #expect(
            missing == [
                "rec.recursive"
            ])
    }

    @Test func eachIsNamedOnce() {
        #expect(Set(Capability.all.map(\.name)).count == Capability.all.count && Capability.all.count > 90)
    }
}
