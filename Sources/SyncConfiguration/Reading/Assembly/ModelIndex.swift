/// Where the entities of a model and their properties stand in it, by name.
struct ModelIndex {
    private struct Places {
        var attributes: [String: Int]
        var relationships: [String: Int]
    }

    private var entities: [String: Int]
    private var properties: [Places]

    init(_ model: ModelConfiguration) {
        func places(_ names: [String]) -> [String: Int] {
            Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
        }
        entities = places(model.entities.map(\.name))
        properties = model.entities.map { Places(attributes: places($0.attributes.map(\.name)), relationships: places($0.relationships.map(\.name))) }
    }

    func entity(_ name: String) -> Int? { entities[name] }

    func attribute(_ name: String, of entity: String) -> Int? {
        entities[entity].flatMap { properties[$0].attributes[name] }
    }

    func relationship(_ name: String, of entity: String) -> Int? {
        entities[entity].flatMap { properties[$0].relationships[name] }
    }
}
