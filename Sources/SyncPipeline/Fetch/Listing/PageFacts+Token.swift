import Foundation
import NIOHTTP1
import SyncConfiguration

/// What a page gives for the next run to go on from.
extension PageFacts {
    /// Takes in what the page holds where the token should be. An address is treated as a link to a next page is.
    ///
    /// - Parameter text: nil: there is nothing.
    mutating func take(_ text: String?, as token: DeltaToken, from address: HTTPAddress, _ settings: FetchSettings) {
        (self.token, refusedToken) = (nil, nil)
        guard let text, !text.isEmpty else { return }
        guard text.utf8.count <= Pagination.longestToken else {
            refusedToken = "it is longer than \(Pagination.longestToken) bytes"
            return
        }
        guard token.parameter != nil else {
            do { self.token = try Self.follow(text, from: address, settings: settings).url.absoluteString } catch { refusedToken = "\(error)" }
            return
        }
        if token.place == .header, !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            refusedToken = "it holds characters that a header cannot carry"
            return
        }
        self.token = text
    }

    /// The same where the page was not modified: what its body held it holds still, and where that may lead is for the configuration of today to say.
    mutating func renewToken(_ token: DeltaToken, by page: UnmodifiedPage, _ settings: FetchSettings) {
        guard let header = token.header else { return take(self.token, as: token, from: page.address, settings) }
        // A 304 may leave out what it would repeat.
        if page.evidence != .status || !page.headers[header].isEmpty {
            take(page.headers.first(name: header), as: token, from: page.address, settings)
        }
    }
}
