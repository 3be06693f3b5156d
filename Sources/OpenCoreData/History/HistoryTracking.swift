/// Option of a SQLite store: whether each save is recorded in the file, in the transaction of the save. `Bool`, default false; a dictionary, as Core
/// Data takes one, means true.
///
/// A file that has a history goes on having one, also where it is opened without the option: otherwise what is saved then would be missing in it.
/// A store that is open for reading only can be asked for the history that its file has.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
