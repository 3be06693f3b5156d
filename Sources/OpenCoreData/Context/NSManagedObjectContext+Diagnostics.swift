import Foundation
import Synchronization

/// What a context tells those who observe diagnostics.
extension NSManagedObjectContext {
    /// Says once that a merge policy was set where none is asked.
    func noteMergePolicy() {
        guard ContextDiagnostic.isObserved, let parent, mergePolicy !== NSMergePolicy.error,
            !hasToldOfMergePolicy.exchange(true, ordering: .relaxed)
        else { return }
        ContextDiagnostic.report(
            ContextDiagnostic(
                .mergePolicyWithoutEffect,
                "The merge policy that was set on \(diagnosticName) has no effect: its parent is a context, and merge policies are asked where a "
                    + "context meets a store. Set it on the root, \(parent.root.diagnosticName), or set parentConflictPolicy.",
                subject: name))
    }

    /// Says that something could not be read where nothing can be thrown and nothing is lost by waiting.
    func reportUnread(_ what: String, _ error: any Error) {
        ContextDiagnostic.report(
            ContextDiagnostic(
                .storeReadFailed, "\(diagnosticName) could not read \(what). \((error as NSError).localizedDescription)", subject: name))
    }

    /// What `body` reads, where nothing can be thrown and there is nothing to go on with.
    func readable<T>(_ what: String, _ body: () throws -> T) -> T {
        do { return try body() } catch { Violation.unreadable(what, error) }
    }
}
