import NIOHTTP1
import SyncConfiguration

/// `etag-honoured`
enum ValidatorTest {
    /// Why there is nothing to try; nil: there is.
    static func obstacle(_ page: FetchedPage, of resource: ResourceConfiguration) -> String? {
        if resource.method != .get { return "a POST has no validators" }
        if resource.http.conditional == .off { return "http.conditional is \"off\"" }
        if page.isPartial { return "only a part of the page came" }
        if page.validators?.isSent != true { return "the answer has neither ETag nor Last-Modified that could be sent back" }
        return nil
    }

    static func test(_ answer: ResourceChecker.Answer, validators: ConditionalGET?, _ redactor: Redactor) -> ResourceCheck.Test {
        let name = validators?.etag == nil ? "If-Modified-Since" : "If-None-Match"
        let off = ResourceCheck.Change("http.conditional", "\"off\"")
        switch answer {
        case .unmodified(let page):
            switch page.evidence {
            case .status: return .passed(.etagHonoured, "\(name) is answered with 304")
            case .etag:
                return .warned(.etagHonoured, "\(name) is answered with 200 and the same ETag: what has not changed is sent again", off)
            case .body:
                return .warned(.etagHonoured, "\(name) is answered with 200 and the same records: what has not changed is sent again", off)
            }
        case .page(let page):
            let isSame = page.validators?.etag == validators?.etag && page.validators?.lastModified == validators?.lastModified
            if isSame { return .warned(.etagHonoured, "\(name) is answered with 200, the same validator and other records", off) }
            return .warned(
                .etagHonoured, "\(name) is answered with 200 and another validator: it has changed meanwhile, or no two answers have the same", nil)
        case .failed(let error):
            return .failed(.etagHonoured, "\(name) is answered otherwise than without: \(error)", AnswerTest.fault(of: error), off)
        case .putOff, .spent: return .notTried(.etagHonoured, answer.reason ?? "")
        }
    }
}
