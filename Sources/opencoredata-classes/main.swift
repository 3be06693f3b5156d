// opencoredata-classes: writes the classes and accessors of one module. For the plugins; see their folders.
import Foundation
import ManagedClasses

exit(ClassesCommand(CommandLine.arguments.dropFirst()).run())
