import Foundation

/// What a fetch may yield: managed objects, object IDs, dictionaries or numbers.
public protocol NSFetchRequestResult {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
