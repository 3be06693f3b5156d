import Dispatch
import Foundation
import Synchronization
import Testing

@testable import OpenCoreData

/// Where the wrappers of `@Managed` properties lead.
@Suite struct WrapperPlacesTests {
    private class First {}
    private final class Second: First {}

    @Test func everyKindOfPlaceIsFoundWhereverItsWrapperLies() {
        let places = WrapperPlaces(), offsets = [-8, 0, 1, 64, 511, 512, 100_000]
        let wanted: [PropertyPlace] = [.slot(0), .slot(1), .slot(16_383), .slot(16_384), .toMany(0), .toMany(7), .composite(3)]
        for shift in wanted.indices {
            for (number, offset) in offsets.enumerated() {
                places.remember(wanted[(number + shift) % wanted.count], for: First.self, at: offset + 10_000_000 * shift)
            }
        }
        for shift in wanted.indices {
            for (number, offset) in offsets.enumerated() {
                #expect(places.place(for: First.self, at: offset + 10_000_000 * shift) == wanted[(number + shift) % wanted.count])
            }
        }
        #expect(places.place(for: First.self, at: 2) == nil && places.place(for: First.self, at: 513) == nil)
    }

    @Test func theSameDistanceIsAnotherPropertyInAnotherClass() {
        let places = WrapperPlaces()
        places.remember(.slot(1), for: First.self, at: 64)
        #expect(places.place(for: Second.self, at: 64) == nil)
        places.remember(.slot(2), for: Second.self, at: 64)
        #expect(places.place(for: First.self, at: 64) == .slot(1) && places.place(for: Second.self, at: 64) == .slot(2))
    }

    @Test func threadsThatAskAtOnceAreToldTheSame() {
        let places = WrapperPlaces(), wrong = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { thread in
            let type: AnyClass = thread % 2 == 0 ? First.self : Second.self, shift = thread % 2 * 1000
            for offset in 0..<600 {
                if let found = places.place(for: type, at: offset), found != .slot(offset + shift) { wrong.withLock { $0.append(offset) } }
                places.remember(.slot(offset + shift), for: type, at: offset)
                if places.place(for: type, at: offset) != .slot(offset + shift) { wrong.withLock { $0.append(offset) } }
            }
        }
        #expect(wrong.withLock { $0 } == [])
    }
}
