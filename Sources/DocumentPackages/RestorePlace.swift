import Foundation
import Glibc
import OpenCoreData

/// Where a restore works in a document's package: the folder `.restoring`. In it is the copy of a backup until both stores have changed places, and the former
/// store from then until it is set aside. A note says which of them it is, so that neither is taken for the other when the process was killed in between.
package struct RestorePlace {
    static let folderName = ".restoring"
    /// Says, once the copy is whole, which folder it is, by its number in the file system.
    private static let noteName = "copy"

    /// The document's package.
    let package: HeldFolder

    /// - Parameter path: the package that is locked.
    package init(_ lock: DocumentLock, at path: String) throws(PackageFailure) { package = try HeldFolder(lock, at: path) }

    /// Ends what a restore that was killed has begun: a former store is set aside, a copy removed, unless the power failed when it was about to take the
    /// place of a store that is set aside already. Throws where it cannot, and then has lost nothing.
    package func settle(at now: Date) throws(PackageFailure) {
        guard package.status(Self.folderName) != nil else { return }
        let folder = try HeldFolder(Self.folderName, in: package)
        if let content = folder.status(PackagePlaces.contentName), let noted = note(folder) {
            if noted != UInt64(content.st_ino) {
                _ = try setAside(folder, at: now)
            } else if package.status(PackagePlaces.contentName) == nil {
                try put(folder)
            }
            try package.synchronize()
        }
        try remove()
    }

    /// Begins anew.
    func make() throws(PackageFailure) -> HeldFolder { try HeldFolder(Self.folderName, in: package, isNew: true) }

    /// There is nothing in it that anybody needs.
    func remove() throws(PackageFailure) { try package.remove(Self.folderName) }

    private func note(_ folder: HeldFolder) -> UInt64? { folder.text(Self.noteName).flatMap { UInt64($0.trimmingCharacters(in: .newlines)) } }

    // MARK: Both stores

    /// Lets the copy take the place of the store, of which nothing is lost whatever happens.
    ///
    /// - Parameters:
    ///   - folder: has the copy, whole and on the disk.
    ///   - content: the copy.
    /// - Returns: where the former content is; nil: there was none. And what is not certain although it is done, in words.
    func exchange(_ folder: HeldFolder, _ content: HeldFolder, at now: Date) throws(PackageFailure) -> (kept: String?, doubt: String?) {
        try folder.write("\(UInt64(content.status.st_ino))\n", as: Self.noteName)
        try folder.synchronize()
        let name = PackagePlaces.contentName
        guard package.status(name) != nil else {
            try put(folder)
            return (nil, doubt { () throws(PackageFailure) in try package.synchronize() })
        }
        do {
            try folder.exchange(name, with: package)
        } catch let error as NSError where error.domain == NSPOSIXErrorDomain && [EINVAL, ENOSYS, ENOTSUP].contains(Int32(clamping: error.code)) {
            return try exchangeInSteps(folder, at: now)
        } catch {
            throw PackageFailure("cannot put the backup in its place, \(package.path)/\(name)", error)
        }
        var kept = "\(folder.path)/\(name)"
        // Where that fails, the next start does it.
        let doubt = doubt { () throws(PackageFailure) in
            kept = try setAside(folder, at: now)
            try package.synchronize()
        }
        return (kept, doubt)
    }

    /// Where the file system has no such step. If the power fails between the two, the next start takes the second one.
    private func exchangeInSteps(_ folder: HeldFolder, at now: Date) throws(PackageFailure) -> (kept: String?, doubt: String?) {
        let name = PackagePlaces.contentName, aside = freeName(now)
        guard package.move(name, to: package, as: aside) else { throw PackageFailure("cannot set \(package.path)/\(name) aside") }
        guard folder.move(name, to: package, as: name) else {
            let failure = PackageFailure("cannot put the backup in its place, \(package.path)/\(name)")
            if package.move(aside, to: package, as: name) { throw failure }
            throw PackageFailure(
                .unsettled, "\(failure.message); what was there is in \(package.path)/\(aside), and the backup in \(folder.path)/\(name)",
                code: failure.code)
        }
        let doubt = doubt { () throws(PackageFailure) in
            try moveBelongings(to: aside)
            try package.synchronize()
        }
        return ("\(package.path)/\(aside)", doubt)
    }

    /// Puts the copy where there is no store.
    private func put(_ folder: HeldFolder) throws(PackageFailure) {
        let name = PackagePlaces.contentName
        guard folder.move(name, to: package, as: name) else { throw PackageFailure("cannot put the backup in its place, \(package.path)/\(name)") }
        // Of a store that is no more. The bodies may be of the backup's time; those that are not go at the next start.
        try? package.remove(Self.runs)
    }

    /// Gives the former content the name that it keeps, and takes there what belongs to it.
    ///
    /// - Returns: where it is.
    private func setAside(_ folder: HeldFolder, at now: Date) throws(PackageFailure) -> String {
        let aside = freeName(now)
        guard folder.move(PackagePlaces.contentName, to: package, as: aside) else {
            throw PackageFailure("cannot give \(folder.path)/\(PackagePlaces.contentName), what was there before, the name \(aside)")
        }
        try moveBelongings(to: aside)
        return "\(package.path)/\(aside)"
    }

    /// What the process that had the former store has noted of runs, and the bodies of pages: they are of runs that the other store does not have.
    private static let runs = ".runs", archive = "Archive"

    private func moveBelongings(to aside: String) throws(PackageFailure) {
        let kept = try HeldFolder(aside, in: package)
        for name in [Self.runs, Self.archive] where package.status(name) != nil {
            guard package.move(name, to: kept, as: name) else { throw PackageFailure("cannot take \(package.path)/\(name) to \(kept.path)") }
        }
        try kept.synchronize()
    }

    private func freeName(_ now: Date) -> String {
        let time = now.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        let first = "\(PackagePlaces.contentName).before-restore-\(time)"
        var name = first, number = 2
        while package.status(name) != nil {
            name = "\(first)-\(number)"
            number += 1
        }
        return name
    }

    private func doubt(_ body: () throws(PackageFailure) -> Void) -> String? {
        do throws(PackageFailure) {
            try body()
            return nil
        } catch {
            return error.message
        }
    }
}
