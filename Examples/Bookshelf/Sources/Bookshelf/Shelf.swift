import CoreData

/// Codegen "Category/Extension": the class is written by hand, its properties are generated.
final class Shelf: NSManagedObject {
    var titles: [String] { (books?.array as? [Book] ?? []).map(\.title) }
}
