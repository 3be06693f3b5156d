import SyncConfiguration
import Testing

@testable import SyncPipeline

// N5
@Suite struct NetworkAddressTests {
    @Test(arguments: [
        "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255",
        "169.254.169.254", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "017700000001", "127.0.0.1.", "::1", "[::1]", "::",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "fc00::1", "fdff::1",
        "ff02::1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2002:c0a8:101::1", "2001::1", "2001:db8::1",
        "100::1", "0:0:0:0:0:ffff:a00:1",
    ])
    func privateAddressesAreKnown(text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(!address.isPublic, "\(address)")
    }

    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.167.1.1", "11.0.0.1", "223.255.255.255",
        "2606:4700::1111", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "134744072",
    ])
    func publicAddressesAreLetThrough(text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic)
    }

    // A private network is asked where one is named; the link, where metadata services answer, only where that is said.
    @Test(arguments: ["169.254.169.254", "0xa9fea9fe", "[::ffff:169.254.169.254]", "[fe80::1]", "[febf::1]", "[fd00:ec2::254]"])
    func theLinkItselfIsAskedOnlyWhereThatIsSaid(host: String) throws {
        #expect(try !Fixture.settings("http://\(host)/").allowsPrivateNetworks)
        #expect(try Fixture.settings("http://\(host)/") { $0.http.allowPrivateNetworks = .allow }.allowsPrivateNetworks)
    }

    @Test(arguments: ["10.0.0.1", "127.0.0.1", "[::1]", "[fd00::1]", "localhost", "[fec0::1]"])
    func aPrivateNetworkIsAskedWhereItIsNamed(host: String) throws {
        #expect(try Fixture.settings("http://\(host)/").allowsPrivateNetworks)
    }

    @Test(arguments: ["", "localhost", "example.com", "1.2.3.4.5", "256.1.1.1", "a.b", ":::", "0xzz", "face", "1.2.3.example"])
    func namesAreNoAddresses(text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test func addressesAreWrittenInTheUsualWay() {
        #expect(NetworkAddress("2130706433")?.description == "127.0.0.1")
        #expect(NetworkAddress("0:0::1")?.description == "::1")
    }
}
