extension FetchError {
    /// The error without the secrets, in whatever part of it a server sent one back.
    func redacted(by redactor: Redactor) -> FetchError {
        var error = self
        error.detail = redactor.redact(detail)
        error.contentType = contentType.map(redactor.redact)
        error.excerpt = redactor.redact(excerpt)
        if case .refused(let refusal) = kind { error.kind = .refused(refusal.redacted(by: redactor)) }
        return error
    }
}

extension Refusal {
    fileprivate func redacted(by redactor: Redactor) -> Refusal {
        switch self {
        case .malformedAddress(let why): .malformedAddress(redactor.redact(why))
        case .scheme(let scheme): .scheme(redactor.redact(scheme))
        case .privateAddress(let address): .privateAddress(redactor.redact(address))
        case .contentEncoding(let encoding): .contentEncoding(redactor.redact(encoding))
        case .otherOrigin(let origin):
            .otherOrigin(Origin(scheme: redactor.redact(origin.scheme), host: redactor.redact(origin.host), port: origin.port))
        case .emptyAddress, .userInformation, .downgrade, .redirectNotAllowed, .nextLinksNotAllowed, .missingLocation, .tooManyRedirects,
            .redirectLoop, .credentialLeak, .unexpectedStatus:
            self
        }
    }
}
