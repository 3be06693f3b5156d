import Bookshelf
import Foundation

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bookshelf-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

try BookshelfStory(storeURL: folder.appendingPathComponent("Bookshelf.sqlite")) { print($0) }.run()
