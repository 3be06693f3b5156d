import CSimdJSON
import JSONPaths

/// The plans of one walk.
final class JSONReading {
    let locator: JSONLocator?
    let plan: JSONFieldPlan
    let envelope: JSONFieldPlan?

    init(locator: JSONLocator?, plan: JSONFieldPlan, envelope: JSONFieldPlan?) {
        self.locator = locator
        self.plan = plan
        self.envelope = envelope
    }
}

/// The path of a record list, compiled.
final class JSONLocator {
    let compiled: OpaquePointer

    init(_ path: JSONPath) {
        compiled = csj_plan_create()
        csj_plan_add_field(compiled)
        JSONFieldPlan.add(path, to: compiled, capture: CSJ_CAPTURE_LOCATE, nested: nil)
        csj_plan_seal(compiled)
    }

    deinit {
        csj_plan_destroy(compiled)
    }
}
