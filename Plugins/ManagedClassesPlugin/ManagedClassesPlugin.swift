import Foundation
import PackagePlugin

/// Generates the classes of a target's models, and the accessors behind `@NSManaged` in its sources, whenever it is built.
@main struct ManagedClassesPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let work = ManagedClassesWork(target)
        let list = try work.writeList(in: context.pluginWorkDirectoryURL)
        let output = context.pluginWorkDirectoryURL.appending(path: "ManagedClasses.swift")
        return [
            .buildCommand(
                displayName: "Managed classes of \(target.moduleName)", executable: try context.tool(named: "opencoredata-classes").url,
                arguments: work.arguments(output: output, list: list), inputFiles: work.inputs + [list], outputFiles: [output])
        ]
    }
}
