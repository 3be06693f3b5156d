import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// What a context tells of itself, and in which order.
@Suite struct ContextNewsTests {
    /// Keeps what it hears, in order.
    private final class Recorder: Sendable {
        private let names = Mutex<[String]>([])
        var heard: [String] { names.withLock { $0 } }

        func follow(_ context: NSManagedObjectContext, anywhere: Bool) {
            context.news.add(self, anywhere: anywhere) { recorder, news in
                let name = "\(news)".prefix { $0 != "(" }
                recorder.names.withLock { $0.append(String(name)) }
            }
        }

        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    private let stack = TestStack()

    @Test func whatIsToldOfASaveComesInTheOrderInWhichItHappens() throws {
        let recorder = Recorder()
        recorder.follow(stack.root, anywhere: true)
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "Ada"])
            stack.root.processPendingChanges()
            try stack.root.save()
        }
        #expect(recorder.heard.filter { $0 != "didPublish" } == ["didChange", "willSave", "didSave"])
    }

    @Test func notificationsAreOneOfThoseThatHear() throws {
        let recorder = Recorder(), names: [Notification.Name] = [.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: stack.root, queue: nil) { _ in recorder.note(name.rawValue) }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        recorder.follow(stack.root, anywhere: false)
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "Ada"])
            try stack.root.save()
        }
        // The context's own notifications come first: it followed itself first.
        #expect(
            recorder.heard.filter { $0 != "didChange" }
                == ["NSManagedObjectContextWillSaveNotification", "willSave", "NSManagedObjectContextDidSaveNotification", "didSave"]
                .map { $0.replacingOccurrences(of: "Notification", with: "") })
    }

    @Test func aChildsPushIsToldAtOnceAndOnTheQueueToThoseWhoAreThere() throws {
        let child = stack.child(of: stack.root), anywhere = Recorder(), onTheQueue = Recorder()
        anywhere.follow(stack.root, anywhere: true)
        onTheQueue.follow(stack.root, anywhere: false)
        try child.performAndWait { () throws in
            child.make("Person", ["name": "Ada"])
            try child.save()
        }
        #expect(anywhere.heard.first == "didReceive")
        stack.root.performAndWait {}
        #expect(onTheQueue.heard == ["didChange"])
    }

    @Test func whatIsForgottenIsToldAfterItIsGone() {
        let recorder = Recorder()
        stack.root.performAndWait {
            stack.root.make("Person", ["name": "Ada"])
            stack.root.processPendingChanges()
            recorder.follow(stack.root, anywhere: false)
            stack.root.reset()
        }
        #expect(recorder.heard == ["wasReset"])
    }
}
