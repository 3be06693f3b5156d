/// What a secret must look like.
public enum SecretForm: Sendable {
    /// One line of printable text: tokens, passwords, everything that ends up in a header.
    case line
    /// Text of several lines, such as a key in PEM form: line breaks and tabs are allowed too.
    case lines
}
