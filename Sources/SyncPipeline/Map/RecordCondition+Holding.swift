import Foundation
import JSONReader
import SyncConfiguration

extension RecordCondition {
    /// Whether a record that has this at the path is one that is meant.
    ///
    /// - Parameters:
    ///   - areTexts: all of its values are texts.
    ///   - now: in seconds since 2001.
    ///   - key: what the configuration calls the condition.
    /// - Throws: where there is a value that should be a time and is none.
    func holds(_ cell: JSONCell, areTexts: Bool = false, _ now: Double, named key: String) throws(ConversionProblem) -> Bool {
        let value = JSONValue(cell)
        guard tests.allSatisfy({ $0.holds(value, areTexts: areTexts) }) else { return false }
        guard after != nil || before != nil else { return true }
        guard !cell.isNil else { return false }
        guard let seconds = DateConversion.seconds(cell, format: format) else {
            throw ConversionProblem(path: "\(path)", message: "\(key): \(cell.brief) is no time written as \(format)", cutText: cell.cutText)
        }
        if let after, seconds < after.seconds(now) { return false }
        if let before, seconds >= before.seconds(now) { return false }
        return true
    }
}

extension RecordCondition.Moment {
    /// In seconds since 2001.
    fileprivate func seconds(_ now: Double) -> Double {
        switch self {
        case .time(let seconds): Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate
        case .ago(let span): now - span.seconds
        }
    }
}
