import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct NotificationTurnTests {
    // T6, T7
    @Test func anUnsavedObjectThatWasAnnouncedIsUpdatedInALaterTurn() {
        let stack = TestStack()
        stack.root.performAndWait {
            let ada = stack.root.make("Person", ["name": "Ada"])
            stack.root.processPendingChanges()
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
            ada.setValue("Ida", forKey: "name")
            stack.root.processPendingChanges()
            #expect(recorder.objects(NSUpdatedObjectsKey) == [ada] && recorder.objects(NSInsertedObjectsKey).isEmpty)
        }
    }

    // T6, N25: what a child pushed is announced, also where a fetch has brought it in before its turn came.
    @Test func aPushThatAFetchTookIsAnnounced() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
        try stack.root.performAndWait { () throws in
            let pushed = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                child.performAndWait {
                    child.make("Person", ["name": "Ada"])
                    #expect(throws: Never.self) { try child.save() }
                }
                pushed.signal()
            }
            pushed.wait()
            #expect(try stack.root.names("Person") == ["Ada"])
        }
        // Behind what the push has queued.
        stack.root.performAndWait {}
        #expect(recorder.count == 1 && recorder.objects(NSInsertedObjectsKey).count == 1)
    }
}
