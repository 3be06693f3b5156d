import OpenCoreData

/// A table of the pipeline's own: a type whose properties are its columns. What the pipeline must remember is data: it is set in the same worker
/// context as the records it vouches for, and reaches the store in the same transaction.
protocol StateTable: Sendable {
    /// The table's entity.
    static var entity: String { get }
    /// The name that people read it by; nil: they do not.
    static var view: String? { get }
    /// The one value of the type.
    static var columns: Self { get }
}

extension StateTable {
    /// All columns, in the order of their declaration.
    static var allColumns: [any TableColumn] { Mirror(reflecting: columns).children.compactMap { $0.value as? any TableColumn } }

    /// - Parameter views: further views, by name.
    static func description(views: [String: String]) -> NSEntityDescription {
        let description = NSEntityDescription(), columns = allColumns
        description.name = entity
        description.properties = columns.map { column in
            let attribute = NSAttributeDescription(name: column.name, type: column.type)
            attribute.userInfo = [ViewAnnotation.column: column.isShown ? column.sql : ""]
            return attribute
        }
        description.uniquenessConstraints = [columns.filter(\.isKey).map(\.name)]
        description.userInfo = [ViewAnnotation.hidden: view == nil, ViewAnnotation.name: view ?? entity, ViewAnnotation.extra: views]
        return description
    }
}
