import NIOHTTP1
import SyncConfiguration

/// `answers`, and what its outcome says of the part that was tried.
enum AnswerTest {
    static func test(_ answer: ResourceChecker.Answer, of resource: ResourceConfiguration) -> ResourceCheck.Test {
        switch answer {
        case .page(let page):
            if let words = page.ignored {
                return .warned(.answers, "ignore_if says that there is nothing" + (words.isEmpty ? "" : ": \(words)"), nil)
            }
            let credentials = resource.authentication == .none ? "" : ", credentials accepted"
            let part = page.isPartial ? ", only a part of it" : ""
            return .passed(.answers, "\(page.status), \(page.received) bytes\(credentials)\(part)")
        case .unmodified: return .passed(.answers, "304")
        case .putOff, .spent: return .notTried(.answers, answer.reason ?? "")
        case .failed(let error): return .failed(.answers, error.description, Self.fault(of: error), change(for: error, resource))
        }
    }

    /// What `parents-known` is where the address that was made of an object is none; nil: it is what it was.
    static func parents(_ answer: ResourceChecker.Answer, of resource: ResourceConfiguration, part: String) -> ResourceCheck.Test? {
        guard resource.partitions?.parents != nil, case .failed(let error) = answer, case .status(let status) = error.kind,
            [400, 404, 405, 410, 422].contains(status)
        else { return nil }
        let name = RemoteText.line(part, limit: 60)
        return .failed(
            .parentsKnown, "what was asked for \(name) is answered with status \(status)", .answer,
            ResourceCheck.Change("path", "the address of the list of one object, with the attribute in its place that the service knows it by"))
    }

    static func fault(of error: FetchError) -> ResourceCheck.Fault {
        switch error.kind {
        case .connect, .timeout, .reset, .dnsTemporary, .dnsNotFound, .tls, .shortBody, .cancelled, .budget: .unreachable
        case .credential, .status(401), .status(403), .status(407): .credentials
        case .status(408), .status(425), .status(429): .unreachable
        case .status(let status) where status >= 500: .unreachable
        case .answer(.rateLimited), .answer(.retry): .unreachable
        case .refused(.privateAddress), .refused(.scheme), .refused(.userInformation), .refused(.malformedAddress): .configuration
        case .status, .answer, .answerErrors, .malformed, .corruptBody, .contentType, .tooLarge, .spool, .refused: .answer
        }
    }

    static func change(for error: FetchError, _ resource: ResourceConfiguration) -> ResourceCheck.Change {
        switch error.kind {
        case .dnsNotFound, .dnsTemporary: ResourceCheck.Change("base_url", "an address whose name exists")
        case .connect, .reset, .shortBody, .cancelled: ResourceCheck.Change("base_url", "an address that answers, with its port")
        case .tls: ResourceCheck.Change("tls.ca", "the file with the certificate of the authority that vouches for the server, in PEM form")
        case .timeout(let limit): ResourceCheck.Change("http.\(limit.rawValue)", "a longer time")
        case .tooLarge(.gzipMembers): ResourceCheck.Change("path", "an address whose answer is not packed so often")
        case .tooLarge(let size): ResourceCheck.Change("http.\(size.rawValue)", "a larger size, or ask for smaller pages in pages")
        case .budget: ResourceCheck.Change("rate.requests", "a larger number; or try again later")
        case .credential: ResourceCheck.Change("auth", "credentials that can be read here, and sent")
        case .status(401), .status(403), .status(407):
            resource.authentication == .none
                ? ResourceCheck.Change("auth", "{ kind = \"bearer\", token = { credential = \"NAME\" } }, or what the service wants")
                : ResourceCheck.Change("auth", "credentials that the service accepts")
        case .status(405): ResourceCheck.Change("method", resource.method == .get ? "\"POST\"" : "\"GET\"")
        case .status(400), .status(422): ResourceCheck.Change("params", "the parameters that the service knows")
        case .status(429), .answer(.rateLimited): ResourceCheck.Change("schedule.every", "a longer time; try again later")
        case .status(let status) where status >= 500: ResourceCheck.Change("path", "nothing, if the service fails by itself; try again later")
        case .status: ResourceCheck.Change("path", "an address that is there")
        case .answer(.fail): ResourceCheck.Change("fail_if", "a condition that good answers do not fulfil")
        case .answer: ResourceCheck.Change("retry_if", "a condition that good answers do not fulfil")
        case .answerErrors: ResourceCheck.Change("query", "what the service can answer without errors")
        case .contentType:
            ResourceCheck.Change(
                "parse.content_types",
                error.contentType.flatMap { MediaType($0) }.map { "[\(tomlQuoted("\($0)"))], if that is JSON" }
                    ?? "the type of what the service sends")
        case .refused(.privateAddress): ResourceCheck.Change("http.allow_private_networks", "true, if that network is meant")
        case .refused(.otherOrigin), .refused(.redirectNotAllowed): ResourceCheck.Change("http.redirects", "\"any\", or the new address as path")
        case .refused(.tooManyRedirects): ResourceCheck.Change("http.max_redirects", "a larger number")
        case .refused(.downgrade): ResourceCheck.Change("base_url", "the address that the server leads to, if that is meant")
        case .refused(.malformedAddress), .refused(.scheme), .refused(.userInformation): ResourceCheck.Change("path", "an address that can be asked")
        case .spool: ResourceCheck.Change("http.max_body", "a smaller size, or make room on the disk")
        case .malformed, .corruptBody, .refused: ResourceCheck.Change("path", "an address that answers as HTTP says")
        }
    }
}
