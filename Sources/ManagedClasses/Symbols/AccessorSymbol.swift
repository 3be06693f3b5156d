/// The symbols of what a class declares and leaves to others: accessors of properties, and methods.
struct AccessorSymbol {
    /// The class.
    let owner: SwiftNominal
    /// The module of an extension, if it is another than the class's.
    let extensionModule: String?
    /// What sets a private declaration apart from those of other files; nil for others.
    let discriminator: String?

    init(owner: SwiftNominal, module: String, privateIn file: String? = nil) {
        self.owner = owner
        extensionModule = module == owner.module ? nil : module
        discriminator = file.map { "_" + MD5.hexadecimal(of: module + $0) }
    }

    func getter(of property: String, _ type: SwiftType) -> String { accessor(of: property, type, "vg") }
    func setter(of property: String, _ type: SwiftType) -> String { accessor(of: property, type, "vs") }

    /// - Parameter labels: nil for one that is left out.
    func method(_ name: String, labels: [String?], parameters: [SwiftType], result: SwiftType) -> String {
        var mangling = begun(name)
        let isLabeled = labels.contains { $0 != nil }
        if isLabeled {
            for label in labels {
                if let label { mangling.appendIdentifier(label) } else { mangling.append("_") }
            }
        } else if !labels.isEmpty {
            mangling.append("y")
        }
        mangling.append(list: result == .void ? [] : [result])
        mangling.append(list: parameters, isLabeled: isLabeled)
        mangling.append("F")
        return mangling.symbol
    }

    private func accessor(of property: String, _ type: SwiftType, _ kind: String) -> String {
        var mangling = begun(property)
        mangling.append(type)
        mangling.append(kind)
        return mangling.symbol
    }

    private func begun(_ name: String) -> SwiftMangling {
        var mangling = SwiftMangling()
        mangling.append(owner)
        if let extensionModule {
            mangling.appendModule(extensionModule)
            mangling.append("E")
        }
        mangling.appendIdentifier(name)
        if let discriminator {
            mangling.appendIdentifier(discriminator)
            mangling.append("LL")
        }
        return mangling
    }
}
