import SyncConfiguration

extension AuthenticationConfiguration {
    /// One of each kind that carries a secret, in each of its places.
    static func carrying(_ secret: SecretReference) -> [AuthenticationConfiguration] {
        let all: [AuthenticationConfiguration] =
            [.bearer(.init(token: secret)), .basic(.init(username: .name("u"), password: secret))]
            + APIKey.Place.allCases.map { .apiKey(.init(name: "k", in: $0, value: secret)) }
        for one in all {
            switch one {
            // Whoever adds a kind adds it above as well, and it is seen everywhere where no secret may go.
            case .none, .bearer, .basic, .apiKey: break
            }
        }
        return all
    }
}
