/// The version of this build. Daemon and tool are built together and have the same.
public enum CisternVersion {
    public static let current = "0.1.0"
}
