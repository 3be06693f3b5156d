/// What an object has besides that stands for one row after another of a batch insert: see `NSManagedObject.fillsRows`.
final class RowFilling: ManagedObjectExtras {
    private let layout: EntityLayout
    private(set) var row: RowSnapshot
    // The row keeps them; nobody but this object has it before the next one begins.
    private var values: UnsafeMutablePointer<AttributeValue>

    init(_ layout: EntityLayout) {
        self.layout = layout
        row = .defaults(layout)
        values = row.ownValues
    }

    /// Takes the default values, for the next row.
    ///
    /// - Parameter spent: a row of the entity with its default values, which nobody else has.
    func begin(_ spent: RowSnapshot?) {
        row = spent ?? .defaults(layout)
        values = row.ownValues
        changed = SlotSet()
        if !changedToManys.isEmpty { changedToManys = SlotSet() }
    }

    /// Sets a value if it is what the slot holds; says whether it is.
    @inline(__always)
    func fill(_ slot: Int, with value: AttributeValue) -> Bool {
        guard layout.takes(value, atSlot: slot) else { return false }
        values[slot] = value
        changed.insert(slot)
        return true
    }

    /// Sets a value of whatever form.
    func set(_ value: AttributeValue, atSlot slot: Int) {
        values[slot] = value
        changed.insert(slot)
    }
}

extension NSManagedObject {
    /// From now on the object stands for rows that are not stored.
    final func startFillingRows() {
        extras = RowFilling(layout)
        fillsRows = true
        ownsRow = true
        storedRow = filling?.row
    }

    private var filling: RowFilling? { fillsRows ? extras.map { unsafeDowncast($0, to: RowFilling.self) } : nil }

    /// The next row.
    final func beginRow(in spent: RowSnapshot?) {
        guard let filling else { return }
        filling.begin(spent)
        storedRow = filling.row
    }

    /// Sets a value of an object that fills rows.
    final func setFilled(_ value: AttributeValue, atSlot slot: Int) { filling?.set(value, atSlot: slot) }

    /// Sets a value of an object that fills rows if it is what the slot holds; says whether it is.
    final func fill(_ slot: Int, with value: AttributeValue) -> Bool {
        guard let extras else { return false }
        // Nobody lets go of it meanwhile, and retaining it would take longer than the rest.
        return Unmanaged.passUnretained(unsafeDowncast(extras, to: RowFilling.self))._withUnsafeGuaranteedRef { $0.fill(slot, with: value) }
    }
}
