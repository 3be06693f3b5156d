import Foundation

extension NSError {
    /// A counter in a store has no number left to go on with: nothing counts that far, so somebody else wrote it.
    ///
    /// - Parameters:
    ///   - counter: what is counted, and where that stands.
    ///   - remedy: what it may be set to.
    static func exhausted(_ counter: String, in store: String, at number: Int64, remedy: String) -> NSError {
        .coreData(
            .persistentStoreSave,
            "\(store) can't go on counting \(counter), which is \(number): no program of ours counts that far, so another one wrote it. \(remedy)")
    }
}
