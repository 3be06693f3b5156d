import Foundation

/// One way in which requests of a stream may say who they are of.
enum AuthenticationWay: Sendable {
    case nothing
    /// A text at a place, always the same.
    case fixed(RequestPlace, String)
    /// A token that a service gave out, after a text.
    case token(DataValue, RequestPlace, prefix: String)

    /// Nil for what is not understood.
    init?(_ declared: DataValue, _ scope: TemplateScope) {
        func text(_ member: String) -> String {
            guard let source = declared[member]?.text, let template = try? TemplateText(source) else { return "" }
            return template.text(in: scope)
        }
        switch declared["type"]?.text {
        case "NoAuth": self = .nothing
        case "BearerAuthenticator": self = .fixed(.header("authorization"), "Bearer \(text("api_token"))")
        case "BasicHttpAuthenticator": self = .fixed(.header("authorization"), Self.basic(text("username"), text("password")))
        case "ApiKeyAuthenticator":
            let named = declared["header"]?.text.map { RequestPlace.header($0.lowercased()) }
            guard let place = RequestPlace(declared["inject_into"]) ?? named else { return nil }
            self = .fixed(place, text("api_token"))
        case "OAuthAuthenticator":
            // A grant that takes a signed assertion is none of those that are understood.
            guard declared["grant_type"]?.text?.contains("jwt-bearer") != true else { return nil }
            self = .token(declared, .header("authorization"), prefix: "Bearer ")
        case "SessionTokenAuthenticator":
            guard let use = declared["request_authentication"] else { return nil }
            guard use["type"]?.text != "Bearer" else {
                self = .token(declared, .header("authorization"), prefix: "Bearer ")
                return
            }
            guard let place = RequestPlace(use["inject_into"]) else { return nil }
            let template = try? TemplateText(use["api_token"]?.text ?? "")
            self = .token(declared, place, prefix: template?.text(in: scope) ?? "")
        default: return nil
        }
    }

    /// All ways of an authenticator that selects one.
    static func all(_ declared: DataValue?, _ scope: TemplateScope) -> [AuthenticationWay] {
        guard let declared else { return [.nothing] }
        guard declared["type"]?.text == "SelectiveAuthenticator" else { return [AuthenticationWay(declared, scope)].compactMap(\.self) }
        return (declared["authenticators"]?.members ?? []).compactMap { AuthenticationWay($0.value, scope) }
    }

    /// The header of HTTP for a name and a password.
    static func basic(_ name: String, _ password: String) -> String { "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())" }
}
