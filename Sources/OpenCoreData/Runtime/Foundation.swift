// Whoever imports this library has Foundation's names, as with Apple's, and where both have one it is this library's that is meant.
@_exported public import Foundation
