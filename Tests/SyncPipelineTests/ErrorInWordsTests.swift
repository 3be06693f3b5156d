import Foundation
import OpenCoreData
import Testing

@testable import SyncPipeline

@Suite struct ErrorInWordsTests {
    private struct Said: Error, CustomStringConvertible {
        var description: String { "page 3 is empty; look at the address" }
    }

    private struct Localized: LocalizedError {
        var errorDescription: String? { "the page is empty" }
    }

    private static let errors: [(any Error, String)] = [
        (Said(), "page 3 is empty; look at the address"), (Localized(), "the page is empty"),
        (POSIXError(.ENOSPC), "The operation could not be completed. No space left on device"),
        (CocoaError(.fileNoSuchFile), "The operation could not be completed. The file doesn’t exist."),
        (NSError(domain: NSCocoaErrorDomain, code: 134030, userInfo: [NSLocalizedDescriptionKey: "The disk is full."]), "The disk is full."),
    ]

    @Test(arguments: errors.indices) func anErrorIsASentence(_ number: Int) {
        let (error, sentence) = Self.errors[number]
        #expect(error.inWords == sentence)
    }

    // Whoever waits for a save gets its error this way.
    @Test(arguments: errors.indices) func anErrorThatCameThroughAContinuationIsASentence(_ number: Int) async {
        let (wanted, sentence) = Self.errors[number]
        do {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in continuation.resume(throwing: wanted)
            }
        } catch {
            #expect(error.inWords == sentence)
            var tally = RunTally()
            tally.fail(error)
            #expect(tally.error == sentence)
        }
    }

    @Test func noErrorOfFoundationIsToldForProgrammers() {
        for error in [URLError(.timedOut), POSIXError(.EIO), CocoaError(.fileReadNoPermission)] as [any Error] {
            #expect(!error.inWords.contains("Domain=") && !error.inWords.contains("UserInfo"))
        }
    }
}
