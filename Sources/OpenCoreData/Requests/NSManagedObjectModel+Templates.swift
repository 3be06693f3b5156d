import Foundation

/// Fetch requests that a model keeps by name, with variables to fill in. Who reads one gets a copy: a template is changed by setting it again.
extension NSManagedObjectModel {
    /// All templates.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        templates.compactMapValues { copy(of: $0) }
    }

    /// Keeps a copy of a request under a name; nil: forgets the one of that name. Traps once a coordinator uses the model.
    public func setFetchRequestTemplate(_ template: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        templates[name] = template?.duplicate()
    }

    /// The template of that name, variables and all; nil if there is none.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        templates[name].flatMap { copy(of: $0) }
    }

    /// A request like the template of that name, with values in place of the variables of its predicate; nil if there is no such template. `NSNull`
    /// stands for nil. Fetching with the request throws if a variable has got no value.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        let request = fetchRequestTemplate(forName: name)
        request?.predicate = request?.predicate?.withSubstitutionVariables(variables)
        return request
    }

    private func copy(of template: NSObject) -> NSFetchRequest<any NSFetchRequestResult>? {
        (template as? NSFetchRequest<any NSFetchRequestResult>)?.duplicate()
    }
}

extension NSManagedObjectModel {
    /// Throws 134060 if there is no entity of that name.
    func entity(named name: String) throws -> NSEntityDescription {
        if let entity = entitiesByName[name] { return entity }
        throw NSError.coreData(
            .coreData, "The model has no entity named \"\(name)\"; it has \(entitiesByName.keys.sorted().joined(separator: ", ")).")
    }
}
