import Contacts
import Foundation

let program = ContactsProgram(
    say: { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) },
    complain: { FileHandle.standardError.write(Data("contacts: \($0)\n".utf8)) })
exit(program.run(Array(CommandLine.arguments.dropFirst())))
