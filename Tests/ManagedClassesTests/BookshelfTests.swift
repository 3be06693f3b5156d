import Foundation
import Testing

@testable import Bookshelf

/// The example: sources as one writes them for Xcode, over the real library.
@Suite struct BookshelfTests {
    @MainActor @Test func sourcesWrittenForXcodeRunUnchanged() throws {
        let folder = try TemporaryFolder()
        var told: [String] = []
        try BookshelfStory(storeURL: folder.url.appending(path: "Bookshelf.sqlite")) { told.append($0) }.run()
        #expect(
            told == [
                "saved 5 books of 2 authors", "long ones of Virginia's: Mrs Dalloway, The Waves", "classic: 3 books",
                "By the window: The Trial, The Waves, The Castle", "changed: pages, tags",
                "The Trial has 256 pages, 0 tags and costs 12.5; added: true", "without Kafka 3 books are left", "By the window: The Waves",
            ])
    }
}
