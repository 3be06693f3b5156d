import Testing

@testable import Systemd

struct ServiceDirectoriesTests {
    @Test func theManagersDirectoriesGoFirst() {
        let directories = ServiceDirectories.current(
            environment: [
                "STATE_DIRECTORY": "/var/lib/cistern-x", "RUNTIME_DIRECTORY": "/run/cistern-x", "CONFIGURATION_DIRECTORY": "/etc/cistern",
                "CREDENTIALS_DIRECTORY": "/run/credentials/cisternd@x.service", "XDG_STATE_HOME": "/elsewhere",
            ], user: 998, home: "/var/lib/cistern")
        #expect(
            directories
                == ServiceDirectories(
                    state: "/var/lib/cistern-x", runtime: "/run/cistern-x", configuration: "/etc/cistern",
                    credentials: "/run/credentials/cisternd@x.service"))
    }

    @Test func ofSeveralDirectoriesTheFirstIsOurs() {
        let directories = ServiceDirectories.current(environment: ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b"], user: 0, home: "/root")
        #expect(directories.state == "/var/lib/a")
    }

    @Test func rootOutsideOfTheManagerUsesTheSystemsPlaces() {
        #expect(
            ServiceDirectories.current(environment: ["XDG_RUNTIME_DIR": "/run/user/0"], user: 0, home: "/root")
                == ServiceDirectories(state: "/var/lib/cistern", runtime: "/run/cistern", configuration: "/etc/cistern"))
    }

    @Test func everyoneElseUsesTheXDGPlaces() {
        #expect(
            ServiceDirectories.current(
                environment: ["XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_HOME": "/c"], user: 7, home: "/people/u")
                == ServiceDirectories(state: "/people/u/.local/state/cistern", runtime: "/run/user/7/cistern", configuration: "/c/cistern"))
        #expect(
            ServiceDirectories.current(environment: ["XDG_STATE_HOME": "relative"], user: 7, home: "/people/u")
                == ServiceDirectories(
                    state: "/people/u/.local/state/cistern", runtime: "/people/u/.local/state/cistern/run/cistern",
                    configuration: "/people/u/.config/cistern"))
    }
}
