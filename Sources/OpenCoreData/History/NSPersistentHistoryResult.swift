import Foundation

/// What a request for persistent history yielded.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// What the result type says.
    public let result: Any?
    public let resultType: NSPersistentHistoryResultType

    package init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
