import AsyncHTTPClient
import NIOPosix
import Testing

@testable import SyncPipeline

/// How many clients there are, and for whom.
@Suite struct EventLoopClientsTests {
    private func clients(loops: Int) -> EventLoopClients {
        EventLoopClients(loops: loops) { _ in HTTPClient(eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton)) }
    }

    private func origin(_ number: Int) -> Origin { Origin(scheme: "https", host: "\(number).example", port: 443) }

    @Test func aThousandOriginsShareAClientForEachLoop() async {
        let clients = clients(loops: 2)
        #expect(clients.count == 0)
        let leases = (0..<1_000).compactMap { clients.lease(origin($0)) }
        #expect(leases.count == 1_000)
        #expect(Set(leases.map { ObjectIdentifier($0.client) }).count == 2)
        #expect(clients.count == 2)
        #expect((0..<1_000).allSatisfy { clients.lease(origin($0))?.client === leases[$0].client })
        await clients.shutdown()
        let late = clients.lease(origin(0))
        #expect(late == nil)
    }

    @Test func aClientThatHasSeenTooManyOriginsIsReplacedAndStaysForThoseThatUseIt() async throws {
        let clients = clients(loops: 1), most = EventLoopClients.mostOrigins
        var held = clients.lease(origin(0))
        let first = try #require(held?.client)
        #expect((1..<most).allSatisfy { clients.lease(origin($0))?.client === first })
        #expect(clients.lease(origin(0))?.client === first)
        var other = clients.lease(origin(most))
        #expect(try #require(other?.client) !== first)
        #expect(clients.count == 2)
        held = nil
        #expect(clients.count == 1)
        // Nobody waits for the one that replaced it, but it is still the loop's.
        other = nil
        #expect(clients.count == 1)
        #expect(clients.lease(origin(0))?.client !== first)
        // A replaced one that nobody uses is not kept.
        for number in 0..<(3 * most) { _ = clients.lease(origin(number)) }
        #expect(clients.count == 1)
        await clients.shutdown()
    }
}
