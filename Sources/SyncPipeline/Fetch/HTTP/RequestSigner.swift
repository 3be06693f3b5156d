import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration

/// Signs each attempt at a request with a code of what it says. What it puts into a request is in nothing that is stored or shown of it.
struct RequestSigner: Sendable {
    let signature: AuthenticationConfiguration.RequestSignature
    private let key: Secret
    private let keyID: Secret?

    /// - Parameters:
    ///   - text: the key as it is written.
    ///   - keyID: what the service calls it; nil: nobody says it.
    /// - Throws: `FetchError` of the class `credential` if the key is not written as the configuration says.
    init(_ signature: AuthenticationConfiguration.RequestSignature, key text: Secret, keyID: Secret?) throws(FetchError) {
        self.signature = signature
        self.keyID = keyID
        switch signature.keyEncoding {
        case .text: key = text
        case .base64:
            guard let bytes = text.withUnsafeBytes({ Secret.decoding(base64: $0) }), bytes.count > 0 else {
                throw FetchError(.credential, detail: "\(signature.key) is not written in Base64, as key_encoding says")
            }
            key = bytes
        }
    }

    /// Signs a request that has everything else already. Of several attempts each has a time and a nonce of its own.
    ///
    /// - Parameter nonce: a text that no other attempt has.
    func sign(_ request: inout HTTPRequest, at now: Date, nonce: String = UUID().uuidString.lowercased()) {
        let timestamp = DateWriting.text(now.timeIntervalSinceReferenceDate, format: signature.timestampFormat) ?? ""
        for (header, text) in [(signature.timestampHeader, timestamp), (signature.nonceHeader, nonce)] {
            if let header { request.headers.replaceOrAdd(name: header, value: text) }
        }
        let parameters = [(signature.timestampParameter, timestamp), (signature.nonceParameter, nonce)]
        request.address = request.address.setting(parameters.compactMap { name, text in name.map { (name: $0, value: text) } })
        if case .query(let name) = signature.carrier { request.address = request.address.removing(parameters: [name]) }
        let message = text(signature.template, of: request, timestamp: timestamp, nonce: nonce, code: "")
        let code = MessageCode.text(of: MessageCode.code(of: message, key: key, signature.algorithm), signature.encoding)
        switch signature.carrier {
        case .header(let name, let value):
            let said = text(value, of: request, timestamp: timestamp, nonce: nonce, code: code)
            request.headers.replaceOrAdd(name: name, value: said.revealed())
        case .query(let name): request.address = request.address.setting([(name, code)])
        }
    }

    private func text(_ template: SignatureTemplate, of request: HTTPRequest, timestamp: String, nonce: String, code: String) -> Secret {
        let address = request.address, parts = URLComponents(url: address.url, resolvingAgainstBaseURL: true)
        let path = parts.flatMap { $0.percentEncodedPath.isEmpty ? nil : $0.percentEncodedPath } ?? "/", query = parts?.percentEncodedQuery ?? ""
        var writer = SecretWriter()
        for part in template.parts {
            switch part {
            case .text(let text): writer.append(text)
            case .place(.method): writer.append(request.method.rawValue)
            case .place(.path): writer.append(path)
            case .place(.query): writer.append(query)
            case .place(.target): writer.append(query.isEmpty ? path : "\(path)?\(query)")
            case .place(.host): writer.append(address.origin.authority)
            case .place(.body): if let body = request.body { writer.append(body) }
            case .place(.bodyDigest(let encoding)): writer.append(MessageCode.text(of: MessageCode.digest(of: request.body), encoding))
            case .place(.timestamp): writer.append(timestamp)
            case .place(.nonce): writer.append(nonce)
            case .place(.keyID): if let keyID { writer.append(keyID) }
            // The transport sets it, from the address.
            case .place(.header(let name)) where name.lowercased() == "host": writer.append(address.origin.authority)
            case .place(.header(let name)): writer.append(request.headers[name].joined(separator: ", "))
            case .place(.signature): writer.append(code)
            }
        }
        return writer.secret
    }
}
