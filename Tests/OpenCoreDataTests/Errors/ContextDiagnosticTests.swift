import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

@Suite struct ContextDiagnosticTests {
    /// A name that no other test uses: what is observed is the whole process.
    private static func name(_ name: String) -> String { "\(name) \(UUID().uuidString)" }

    // GB13
    @Test func aMergePolicyOnAContextWithAParentIsToldOnce() {
        let stack = TestStack(), before = Self.name("before"), after = Self.name("after"), root = Self.name("root")
        let recorder = DiagnosticRecorder()
        let early = NSManagedObjectContext(.privateQueueConcurrencyType)
        early.name = before
        early.mergePolicy = .overwrite
        early.parent = stack.root
        let late = stack.child(of: early, name: after)
        late.mergePolicy = .error
        #expect(recorder.about(after).isEmpty)
        late.mergePolicy = .mergeByPropertyObjectTrump
        late.mergePolicy = .mergeByPropertyStoreTrump
        stack.root.name = root
        stack.root.mergePolicy = .overwrite
        #expect(recorder.about(before).map(\.kind) == [.mergePolicyWithoutEffect])
        #expect(recorder.about(after).map(\.kind) == [.mergePolicyWithoutEffect])
        #expect(recorder.about(after).first?.message.contains("parentConflictPolicy") == true)
        #expect(recorder.about(root).isEmpty)
    }

    // GB13
    @Test func whoCancelsOrLetsGoHearsNothingAnyMore() {
        let stack = TestStack(), kept = DiagnosticRecorder(), cancelled = DiagnosticRecorder()
        let heard = Mutex<[String]>([])
        do {
            let letGo = ContextDiagnostic.observe { diagnostic in heard.withLock { $0.append(diagnostic.subject ?? "") } }
            _ = letGo
        }
        cancelled.cancel()
        let name = Self.name("child")
        stack.child(of: stack.root, name: name).mergePolicy = .overwrite
        #expect(kept.about(name).count == 1)
        #expect(cancelled.about(name).isEmpty && !heard.withLock { $0.contains(name) })
    }
}
