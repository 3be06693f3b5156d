/// Writes the accessors that declarations with `@NSManaged` leave to others: functions that have the symbols of the accessors.
///
/// A function has what its caller expects of an accessor: it is `dynamic`, as everything with `@NSManaged` is, and as visible as the declaration.
/// Otherwise an optimizing compiler refuses it.
struct AccessorWriter {
    let module: String
    let placement: TypePlacement
    private(set) var complaints: [ClassesComplaint] = []
    private var groups: [(owner: [String], conditions: [String], functions: String)] = []
    private var number = 0
    private var symbols: Set<String> = []

    init(module: String, placement: TypePlacement) {
        self.module = module
        self.placement = placement
    }

    mutating func write(_ source: ScannedSource) {
        complaints += source.complaints
        let imports = source.imports.map(\.module)
        for member in source.members { write(member, file: source.fileName, imports) }
    }

    var text: String {
        groups.map { group in
            let begin = group.conditions.map { "#if \($0)\n" }.joined(), end = group.conditions.map { _ in "#endif\n" }.joined()
            return "\n\(begin)extension \(group.owner.joined(separator: ".")) {\n\(group.functions)}\n\(end)"
        }.joined()
    }

    private struct Refusal: Error {
        let message: String
    }

    private mutating func write(_ member: ScannedSource.Member, file: String, _ imports: [String]) {
        do throws(Refusal) {
            let functions = try functions(of: member, file: file, imports).filter { symbols.insert($0.symbol).inserted }
            guard !functions.isEmpty else { return }
            if groups.last?.owner != member.owner || groups.last?.conditions != member.conditions {
                groups.append((member.owner, member.conditions, ""))
            }
            groups[groups.count - 1].functions += "    // \(member.name)\n"
            for function in functions {
                groups[groups.count - 1].functions += "    @_silgen_name(\"\(function.symbol)\")\n    \(function.declaration)\n"
            }
        } catch {
            complaints.append(ClassesComplaint(member.place, error.message))
        }
    }

    private mutating func functions(
        of member: ScannedSource.Member, file: String, _ imports: [String]
    ) throws(Refusal) -> [(symbol: String, declaration: String)] {
        guard let owner = placement.owner(member.owner, imports: imports) else {
            throw Refusal(message: "the class \(member.owner.joined(separator: ".")) isn't declared in \(module), nor in what this file imports")
        }
        guard owner.access >= .internal else {
            throw Refusal(message: "the class \(owner.nominal.name) is private: its accessors are in another file; make it internal")
        }
        let isPrivate = member.access <= .fileprivate
        let symbol = AccessorSymbol(owner: owner.nominal, module: module, privateIn: isPrivate ? file : nil)
        let prefix: String
        switch min(member.access, owner.access) {
        case .public, .open: prefix = "@usableFromInline dynamic final func"
        case .package: prefix = "package dynamic final func"
        default: prefix = "dynamic final func"
        }
        number += 1
        switch member.form {
        case .property(let syntax, let text):
            let type = try resolved(syntax, text, member, imports), name = member.name
            let value = Self.isPrimitive(name) ? "ManagedPrimitiveValue" : "ManagedValue"
            let getter = Self.isPrimitive(name) ? "managedPrimitiveValue" : "managedValue"
            return [
                (symbol.getter(of: name, type), "\(prefix) _managed\(number)() -> \(text) { \(getter)(forProperty: \"\(name)\") }"),
                (
                    symbol.setter(of: name, type),
                    "\(prefix) _setManaged\(number)(_ value: __owned \(Self.parameter(text))) { set\(value)(value, forProperty: \"\(name)\") }"
                ),
            ]
        case .method(let parameters, let result, let resultText):
            guard result == .void else {
                throw Refusal(message: "no accessor returns \(resultText): write the body of \(member.name), without @NSManaged")
            }
            guard let accessor = ToManyAccessor(member.name, parameters.map(\.label)) else {
                throw Refusal(
                    message:
                        "\(member.name)(\(parameters.map { ($0.label ?? "_") + ":" }.joined())) is no accessor that Core Data makes; they are addToX(_:), "
                        + "removeFromX(_:) and, for ordered relationships, insertIntoX(_:at:), removeFromX(at:), replaceX(at:with:)")
            }
            var types: [SwiftType] = []
            for parameter in parameters { types.append(try resolved(parameter.type, parameter.typeText, member, imports)) }
            let list = parameters.enumerated().map { "\($1.label ?? "_") p\($0): \($1.typeText)" }.joined(separator: ", ")
            let call = accessor.call {
                types[$0] == .nominal(SwiftType.standard("Int"))
            } indexes: { index in
                types[index] == placement.library.nominal(["IndexSet"]).map { .nominal($0) } ? "NSIndexSet(indexSet: p\(index))" : "p\(index)"
            }
            return [
                (
                    symbol.method(member.name, labels: parameters.map(\.label), parameters: types, result: .void),
                    "\(prefix) _managed\(number)(\(list)) { \(call) }"
                )
            ]
        }
    }

    /// `String!` is a type of results and parameters, too, but not after `__owned`.
    private static func parameter(_ text: String) -> String { text.hasSuffix("!") ? text.dropLast() + "?" : text }

    private static func isPrimitive(_ name: String) -> Bool {
        name.hasPrefix("primitive") && name.dropFirst("primitive".count).first?.isUppercase == true
    }

    private func resolved(
        _ syntax: TypeSyntax, _ text: String, _ member: ScannedSource.Member, _ imports: [String]
    ) throws(Refusal) -> SwiftType {
        do throws(TypePlacement.Failure) {
            return try placement.resolved(syntax, in: member.owner, imports: imports)
        } catch {
            switch error {
            case .unfit: throw Refusal(message: "\(member.name): no accessor can have the type \(text)")
            case .ambiguous(let name, let modules):
                throw Refusal(message: "\(member.name): \(modules.joined(separator: " and ")) have a type \(name); write \(modules[0]).\(name)")
            case .unknown(let name):
                throw Refusal(
                    message:
                        "\(member.name): what \(name) is can't be seen in the sources of \(module) and of the modules that this file imports; say it "
                        + "in a comment anywhere in \(module), as in: // managed-type: enum SomeModule.\(name)")
            }
        }
    }
}
