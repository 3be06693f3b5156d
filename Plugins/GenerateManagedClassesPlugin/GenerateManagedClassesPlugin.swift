import Foundation
import PackagePlugin

/// `swift package generate-managed-classes [--target NAME]...`: writes once what `ManagedClassesPlugin` writes with every build, into the folders of
/// the targets, for who wants to commit it.
@main struct GenerateManagedClassesPlugin: CommandPlugin {
    private static let fileName = "ManagedClasses.generated.swift"

    func performCommand(context: PluginContext, arguments: [String]) throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let tool = try context.tool(named: "opencoredata-classes").url
        let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
        for case let target as any SourceModuleTarget in targets {
            let work = ManagedClassesWork(target, leavingOut: Self.fileName)
            // Unless it was asked for, a target without a model is none of this command's business.
            guard !names.isEmpty || !work.models.isEmpty else { continue }
            let output = target.directoryURL.appending(path: Self.fileName)
            let list = try work.writeList(in: context.pluginWorkDirectoryURL)
            let process = try Process.run(tool, arguments: work.arguments(output: output, list: list))
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                Diagnostics.error("the classes of \(target.name) could not be generated")
                continue
            }
            print("wrote \(output.path)")
        }
    }
}
