/// The signatures of `auth`, which each request has one of its own of.
extension AuthenticationConfiguration {
    /// `kind = "hmac"`: a code (HMAC, RFC 2104) of what a request says, made with a key that the service has as well.
    public struct RequestSignature: Sendable, Hashable {
        /// The hash that it is made with.
        public enum Algorithm: String, Sendable, Hashable, CaseIterable {
            case sha256, sha1, sha384, sha512, md5
        }

        /// What carries it.
        public enum Carrier: Sendable, Hashable {
            /// `header` and `header_value`: a header, and what it says.
            case header(String, SignatureTemplate)
            /// `name`: a parameter of the query, the last one.
            case query(String)
        }

        /// `key`: required, read again for each attempt.
        public var key: SecretReference
        /// `key_encoding`: how the key is written.
        public var keyEncoding = WebToken.KeyEncoding.text
        /// `key_id`: what the service calls the key; nil: nothing says it.
        public var keyID: SecretText?
        /// `algorithm`, default `sha256`.
        public var algorithm = Algorithm.sha256
        /// `template`: the text that is signed; required.
        public var template: SignatureTemplate
        /// `encoding`, default `hex`: how the code is written.
        public var encoding = SignatureTemplate.Encoding.hex
        /// What carries it.
        public var carrier: Carrier
        /// `timestamp_format`, default `unix`: how the time of an attempt is written.
        public var timestampFormat = DateFormat.unix
        /// `timestamp_header`: a header that says the time; nil: none does.
        public var timestampHeader: String?
        /// `timestamp_param`: a parameter of the query that says it; nil: none does.
        public var timestampParameter: String?
        /// `nonce_header`: a header with a text that no other attempt has; nil: there is none.
        public var nonceHeader: String?
        /// `nonce_param`: a parameter with it; nil: there is none.
        public var nonceParameter: String?

        /// What else there is has its default.
        public init(key: SecretReference, template: SignatureTemplate, in carrier: Carrier) {
            self.key = key
            self.template = template
            self.carrier = carrier
        }

        /// Every secret it refers to.
        public var secrets: [SecretReference] { [key] + [keyID?.reference].compactMap(\.self) }

        /// Everything that it puts into a request, by its name.
        package var names: [(place: APIKey.Place, name: String)] {
            typealias Name = (place: APIKey.Place, name: String)
            let own: Name =
                switch carrier {
                case .header(let name, _): (place: .header, name: name)
                case .query(let name): (place: .query, name: name)
                }
            let headers: [Name] = [timestampHeader, nonceHeader].compactMap { $0 }.map { (place: .header, name: $0) }
            let parameters: [Name] = [timestampParameter, nonceParameter].compactMap { $0 }.map { (place: .query, name: $0) }
            return [own] + headers + parameters
        }
    }
}
