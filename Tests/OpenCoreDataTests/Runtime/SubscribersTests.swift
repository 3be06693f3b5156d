import Synchronization
import Testing

@testable import OpenCoreData

/// Who is told, and who keeps whom.
@Suite struct SubscribersTests {
    private final class Listener: Sendable {
        let heard = Mutex<[Int]>([])

        func follow(_ subscribers: Subscribers<Int>, anywhere: Bool = false) {
            subscribers.add(self, anywhere: anywhere) { listener, number in listener.heard.withLock { $0.append(number) } }
        }
    }

    private let subscribers = Subscribers<Int>()

    @Test func whoFollowsTwiceIsToldOnce() {
        let listener = Listener()
        listener.follow(subscribers)
        listener.follow(subscribers)
        subscribers.tell(1)
        #expect(listener.heard.withLock { $0 } == [1])
    }

    @Test func nobodyIsKeptAlive() {
        var listener: Listener? = Listener()
        weak let former = listener
        listener?.follow(subscribers)
        subscribers.tell(1)
        listener = nil
        #expect(former == nil)
        subscribers.tell(2)
    }

    @Test func whoTellsDoesNotHearIt() {
        let sender = Listener(), other = Listener()
        sender.follow(subscribers)
        other.follow(subscribers)
        subscribers.tell(1, except: sender)
        #expect(sender.heard.withLock { $0 }.isEmpty && other.heard.withLock { $0 } == [1])
    }

    @Test func whoSharesAQueueIsNotToldElsewhere() {
        let here = Listener(), anywhere = Listener()
        here.follow(subscribers)
        anywhere.follow(subscribers, anywhere: true)
        subscribers.tell(1, anywhere: true)
        #expect(here.heard.withLock { $0 }.isEmpty && anywhere.heard.withLock { $0 } == [1])
    }

    @Test func whatNobodyHearsIsNotPutTogether() {
        func news() -> Int {
            Issue.record("it was put together")
            return 1
        }
        subscribers.tell(news())
        let listener = Listener()
        listener.follow(subscribers)
        subscribers.remove(listener)
        subscribers.tell(news())
    }
}
