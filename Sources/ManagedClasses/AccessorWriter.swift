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
    /// What was written, and under which conditions: branches of `#if` that exclude each other may declare the same.
    private var written: Set<[String]> = []
    /// How widely the modules have to be imported whose types declarations name.
    private(set) var imports = ImportNeeds()

    init(module: String, placement: TypePlacement) {
        self.module = module
        self.placement = placement
    }

    mutating func write(_ source: ScannedSource) {
        complaints += source.complaints
        for member in source.members { write(member, in: source) }
    }

    var text: String {
        groups.map { group in
            let begin = group.conditions.map { "#if \($0)\n" }.joined(), end = group.conditions.map { _ in "#endif\n" }.joined()
            return "\n\(begin)extension \(group.owner.map(SwiftName.escaped).joined(separator: ".")) {\n\(group.functions)}\n\(end)"
        }.joined()
    }

    private struct Refusal: Error {
        let message: String
    }

    private mutating func write(_ member: ScannedSource.Member, in source: ScannedSource) {
        do throws(Refusal) {
            let functions = try functions(of: member, in: source).filter { written.insert([$0.symbol] + member.conditions).inserted }
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
        of member: ScannedSource.Member, in source: ScannedSource
    ) throws(Refusal) -> [(symbol: String, declaration: String)] {
        let place = TypePlacement.Place(
            scope: member.owner, imports: source.imports.map(\.module), view: .init(file: source.path, conditions: member.conditions))
        let name = member.owner.joined(separator: ".")
        let found: (nominal: SwiftNominal, access: ScannedSource.Access, modules: Set<String>)?
        do { found = try placement.owner(at: place) } catch { throw refusal(error, of: member, name) }
        guard let owner = found else {
            throw Refusal(
                message: "the class \(name) isn't declared in \(module), nor in what this file imports; import its module, or say what it is in a "
                    + "comment anywhere in \(module), as in: // managed-type: class SomeModule.\(name)")
        }
        guard owner.access >= .internal else {
            throw Refusal(message: "the class \(owner.nominal.name) is private: its accessors are in another file; make it internal")
        }
        let symbol = AccessorSymbol(owner: owner.nominal, module: module, privateIn: member.access <= .fileprivate ? source.fileName : nil)
        let access = min(member.access, owner.access), prefix: String
        switch access {
        case .public, .open: prefix = "@usableFromInline dynamic final func"
        case .package: prefix = "package dynamic final func"
        default: prefix = "dynamic final func"
        }
        imports.add(owner.modules, access)
        number += 1
        switch member.form {
        case .property(let syntax, let text):
            let type = try resolved(syntax, text, member, place, access), name = member.name
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
                throw Refusal(message: "no accessor returns \(resultText); write the body of \(member.name), without @NSManaged")
            }
            guard let accessor = ToManyAccessor(member.name, parameters.map(\.label)) else {
                throw Refusal(
                    message:
                        "\(member.name)(\(parameters.map { ($0.label ?? "_") + ":" }.joined())) is no accessor that Core Data makes; they are addToX(_:), "
                        + "removeFromX(_:) and, for ordered relationships, insertIntoX(_:at:), removeFromX(at:), replaceX(at:with:); name it like "
                        + "one of them, or write its body, without @NSManaged")
            }
            var types: [SwiftType] = []
            for parameter in parameters { types.append(try resolved(parameter.type, parameter.typeText, member, place, access)) }
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

    private mutating func resolved(
        _ syntax: TypeSyntax, _ text: String, _ member: ScannedSource.Member, _ place: TypePlacement.Place, _ access: ScannedSource.Access
    ) throws(Refusal) -> SwiftType {
        do throws(TypePlacement.Failure) {
            let placed = try placement.resolved(syntax, at: place)
            imports.add(placed.modules, access)
            return placed.type
        } catch {
            throw refusal(error, of: member, text)
        }
    }

    private func refusal(_ failure: TypePlacement.Failure, of member: ScannedSource.Member, _ text: String) -> Refusal {
        let name = member.name
        switch failure {
        case .unfit:
            return Refusal(
                message:
                    "\(name): no accessor can have the type \(text); give it one that a property of a model has, or write its body, without @NSManaged"
            )
        case .ambiguous(let type, let modules):
            return Refusal(message: "\(name): \(modules.joined(separator: " and ")) have a type \(type); write \(modules[0]).\(type)")
        case .divided(let type):
            return Refusal(
                message: "\(name): \(type) is another in each branch of an #if, and which one is built can't be known here; declare "
                    + "\(name) in the same branches as \(type)")
        case .hidden(let type, let access):
            return Refusal(message: "\(name): the type \(type) is \(access), and accessors are in another file; make it internal")
        case .unknown(let type):
            return Refusal(
                message: "\(name): what \(type) is can't be seen in the sources of \(module) and of the modules that this file imports; say it "
                    + "in a comment anywhere in \(module), as in: // managed-type: enum SomeModule.\(type)")
        }
    }
}
