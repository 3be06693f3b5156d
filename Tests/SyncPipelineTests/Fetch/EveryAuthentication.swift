import JSONReader
import SyncConfiguration

extension AuthenticationConfiguration {
    /// One of each kind that carries a secret, in each of its places.
    static func carrying(_ secret: SecretReference) -> [AuthenticationConfiguration] {
        var all: [AuthenticationConfiguration] = [.bearer(.init(token: secret)), .basic(.init(username: .name("u"), password: secret))]
        all += APIKey.Place.allCases.map { .apiKey(.init(name: "k", in: $0, value: secret)) }
        all.append(.oauth2(.init(grant: .clientCredentials, tokenURL: "https://login.example/token", clientID: .text("c"), clientSecret: secret)))
        all += APIKey.Place.allCases.map { .session(session(in: $0, secret)) }
        all += APIKey.Place.allCases.map { .jwt(signed(in: $0, secret)) }
        all.append(.hmac(signature(in: .header("Authorization", .signatureAlone), secret)))
        all.append(.hmac(signature(in: .query("k"), secret)))
        for one in all {
            switch one {
            // Whoever adds a kind adds it above as well, and it is seen everywhere where no secret may go.
            case .none, .bearer, .basic, .apiKey, .oauth2, .session, .jwt, .hmac: break
            }
        }
        return all
    }

    private static func signed(in place: APIKey.Place, _ secret: SecretReference) -> JWT {
        var jwt = JWT(WebToken(key: secret, algorithm: .hs256))
        jwt.sendAs.place = place
        jwt.sendAs.name = "k"
        jwt.sendAs.prefix = ""
        return jwt
    }

    private static func signature(in carrier: RequestSignature.Carrier, _ secret: SecretReference) -> RequestSignature {
        var signature = RequestSignature(key: secret, template: .signatureAlone, in: carrier)
        signature.keyID = .secret(secret)
        signature.timestampHeader = "X-Time"
        signature.timestampParameter = "time"
        signature.nonceHeader = "X-Nonce"
        signature.nonceParameter = "nonce"
        return signature
    }

    private static func session(in place: APIKey.Place, _ secret: SecretReference) -> Session {
        var login = Login(url: "https://login.example/session")
        login.body = .json(.object([.init(name: "password", value: .text(.secret(secret)))]))
        var session = Session(login: login, token: .path(JSONPath(keys: ["access_token"])))
        session.sendAs.place = place
        session.sendAs.name = "k"
        session.sendAs.prefix = ""
        return session
    }
}
