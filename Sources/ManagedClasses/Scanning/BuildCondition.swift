/// What `#if` asks, as far as it is known for a build on Linux: true, false, or nil for what only the build knows.
struct BuildCondition {
    private static let absent: Set = [
        "AppKit", "ARKit", "AVFoundation", "CloudKit", "Cocoa", "Combine", "CoreGraphics", "CoreLocation", "CoreSpotlight", "Darwin", "HealthKit",
        "MapKit", "MobileCoreServices", "ObjectiveC", "Photos", "SwiftData", "SwiftUI", "UIKit", "WatchKit", "WidgetKit",
    ]
    private static let present: Set = ["CoreData", "Dispatch", "Foundation", "Glibc", "OpenCoreData", "Swift"]

    private let tokens: [SwiftTokens.Token]
    private var index = 0

    private init(_ tokens: [SwiftTokens.Token]) { self.tokens = tokens }

    static func value(of tokens: [SwiftTokens.Token]) -> Bool? {
        var condition = BuildCondition(tokens)
        return condition.either()
    }

    private func isAhead(_ text: String) -> Bool { index < tokens.count && tokens[index].text == text }

    private mutating func takes(_ texts: String...) -> Bool {
        for (offset, text) in texts.enumerated() where index + offset >= tokens.count || tokens[index + offset].text != text { return false }
        index += texts.count
        return true
    }

    private mutating func either() -> Bool? {
        var result = both()
        while takes("|", "|") {
            let next = both()
            result = result == true || next == true ? true : (result == nil || next == nil ? nil : false)
        }
        return result
    }

    private mutating func both() -> Bool? {
        var result = single()
        while takes("&", "&") {
            let next = single()
            result = result == false || next == false ? false : (result == nil || next == nil ? nil : true)
        }
        return result
    }

    private mutating func single() -> Bool? {
        if takes("!") { return single().map { !$0 } }
        if takes("(") {
            let result = either()
            return takes(")") ? result : nil
        }
        guard index < tokens.count else { return nil }
        let name = tokens[index].text
        index += 1
        if name == "true" { return true }
        if name == "false" { return false }
        guard isAhead("(") else { return nil }
        var arguments: [String] = [], depth = 0
        repeat {
            if isAhead("(") { depth += 1 }
            if isAhead(")") { depth -= 1 }
            arguments.append(tokens[index].text)
            index += 1
        } while depth > 0 && index < tokens.count
        let argument = arguments.count > 1 ? arguments[1] : ""
        switch name {
        case "os": return argument == "Linux"
        case "canImport": return Self.absent.contains(argument) ? false : Self.present.contains(argument) ? true : nil
        case "targetEnvironment": return false
        default: return nil
        }
    }
}
