// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Synchronization
import Testing

@Suite struct DriverRegistryTests {
    private static func registration(
        _ identifier: DriverIdentifier,
        _ priority: Int?,
        _ availability: DriverAvailability = .available("It answers."),
        probes: ProbeLog? = nil
    ) -> DriverRegistration {
        DriverRegistration(
            identifier: identifier,
            summary: "the driver \(identifier)",
            priority: priority,
            probe: { url in
                probes?.urls.withLock { $0.append(url) }
                return availability
            },
            open: { url, options throws(KeychainError) in
                guard options.creation != .mustBeNew else { throw .duplicateItem }
                return MemoryDriver()
            }
        )
    }

    private final class ProbeLog: Sendable {
        let urls = Mutex<[StoreURL]>([])
        var count: Int { urls.withLock { $0.count } }
    }

    private let file = StoreURL(driver: "file", path: "/a")

    @Test func theNamedStoreComesFirst() throws {
        let log = ProbeLog()
        let registry = DriverRegistry([Self.registration("secret-service", 10, .unreachable("Down."), probes: log)])
        let choice = try registry.choose(
            explicit: file,
            environment: ["KEYCHAIN_STORE": "memory:x"],
            remembered: StoreURL(driver: "secret-service", path: "")
        )
        #expect(choice.url == file)
        #expect(log.count == 0, "Nothing is asked where nothing is in question.")
    }

    @Test func thenTheVariable() throws {
        let registry = DriverRegistry([Self.registration("secret-service", 10)])
        let choice = try registry.choose(environment: ["KEYCHAIN_STORE": "file:/b"], remembered: file)
        #expect(choice.url == StoreURL(driver: "file", path: "/b"))
        #expect(choice.reason.contains("KEYCHAIN_STORE"))
        let error = #expect(throws: KeychainError.self) {
            try registry.choose(environment: ["KEYCHAIN_STORE": "hunter2"], remembered: file)
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.debugDescription.contains("hunter2") == false)
    }

    @Test func thenTheRememberedOne() throws {
        let registry = DriverRegistry([Self.registration("secret-service", 10), Self.registration("file", 1)])
        let choice = try registry.choose(environment: ["KEYCHAIN_STORE": ""], remembered: file)
        #expect(choice.url == file)
    }

    @Test func thenThePriority() throws {
        let registry = DriverRegistry([
            Self.registration("file", 1), Self.registration("memory", nil), Self.registration("secret-service", 10),
        ])
        #expect(try registry.choose(environment: [:]).url == StoreURL(driver: "secret-service", path: ""))
        #expect(registry.drivers.map(\.identifier) == ["secret-service", "file", "memory"])
    }

    @Test func ofEqualPrioritiesTheNameDecides() {
        let registrations = [Self.registration("b", 1), Self.registration("a", 1), Self.registration("c", 1)]
        #expect(DriverRegistry(registrations).drivers.map(\.identifier) == ["a", "b", "c"])
        #expect(DriverRegistry(registrations.reversed()).drivers.map(\.identifier) == ["a", "b", "c"])
    }

    @Test func anUnavailableDriverIsPassedOver() throws {
        let registry = DriverRegistry([
            Self.registration("secret-service", 10, .unavailable("There is no bus.")), Self.registration("file", 1),
        ])
        #expect(try registry.choose(environment: [:]).url.driver == "file")
    }

    @Test func anUnreachableOneNeverIs() {
        let registry = DriverRegistry([
            Self.registration("secret-service", 10, .unreachable("It hangs.")), Self.registration("file", 1),
        ])
        let error = #expect(throws: KeychainError.self) { try registry.choose(environment: [:]) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("It hangs.") == true)
        #expect(error?.message.contains("KEYCHAIN_STORE") == true)
        #expect(error?.driver == "secret-service" && error?.operation == .open)
    }

    @Test(arguments: [DriverAvailability.unavailable("It is gone."), .unreachable("It is gone.")])
    func aRememberedStoreIsNeverReplaced(_ availability: DriverAvailability) {
        let registry = DriverRegistry([
            Self.registration("secret-service", 10), Self.registration("file", 1, availability),
        ])
        let error = #expect(throws: KeychainError.self) { try registry.choose(environment: [:], remembered: file) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("It is gone.") == true)
        #expect(error?.message.contains("file:/a") == true)
        #expect(error?.message.contains("KEYCHAIN_STORE") == true)
        #expect(error?.location == "file:/a" && error?.driver == "file")
    }

    @Test func aRememberedStoreOfADriverThatIsMissing() {
        let registry = DriverRegistry([Self.registration("file", 1)])
        let error = #expect(throws: KeychainError.self) {
            try registry.choose(environment: [:], remembered: StoreURL(driver: "secret-service", path: ""))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("built without") == true)
    }

    @Test func theRememberedStoreItselfIsProbed() throws {
        let log = ProbeLog()
        let registry = DriverRegistry([Self.registration("file", 1, probes: log)])
        _ = try registry.choose(environment: [:], remembered: file)
        #expect(log.urls.withLock { $0 } == [file])
    }

    @Test func withoutAnyDriverTheReasonsAreGiven() {
        let registry = DriverRegistry([
            Self.registration("secret-service", 10, .unavailable("There is no bus.")),
            Self.registration("memory", nil),
        ])
        let error = #expect(throws: KeychainError.self) { try registry.choose(environment: [:]) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("There is no bus.") == true)
        #expect(throws: KeychainError.Code.unavailable.error) { try DriverRegistry().choose(environment: [:]) }
    }

    @Test func aSurveyAsksEachDriverOnceAndOpensNothing() {
        let log = ProbeLog()
        let registry = DriverRegistry([
            Self.registration("file", 1, .unavailable("No."), probes: log),
            Self.registration("secret-service", 10, .unreachable("Down."), probes: log),
            Self.registration("memory", nil, probes: log),
        ])
        let reports = registry.survey()
        #expect(reports.map(\.identifier) == ["secret-service", "file", "memory"])
        #expect(reports.map(\.availability.reason) == ["Down.", "No.", "It answers."])
        #expect(reports.map(\.summary) == ["the driver secret-service", "the driver file", "the driver memory"])
        #expect(log.urls.withLock { $0 } == reports.map { StoreURL(driver: $0.identifier, path: "") })
    }

    @Test func anUnknownDriverIsNamed() {
        let registry = DriverRegistry([Self.registration("file", 1)])
        let error = #expect(throws: KeychainError.self) { _ = try registry.open(StoreURL(driver: "vault", path: "x")) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("vault:") == true && error?.message.contains("file:") == true)
        #expect(error?.location == "vault:x" && error?.operation == .open)
    }

    @Test func whatOpeningThrowsIsLocated() {
        let registry = DriverRegistry([Self.registration("file", 1)])
        let error = #expect(throws: KeychainError.self) {
            _ = try registry.open(file, options: StoreOptions(creation: .mustBeNew))
        }
        #expect(error?.code == .duplicateItem && error?.location == "file:/a" && error?.driver == "file")
    }

    @Test func theLaterRegistrationCounts() {
        var registry = DriverRegistry([Self.registration("file", 1, .unavailable("Old."))])
        let copy = registry
        registry.register(Self.registration("file", 1, .available("New.")))
        #expect(registry.survey().map(\.availability) == [.available("New.")])
        #expect(copy.survey().map(\.availability) == [.unavailable("Old.")], "A registry is a value.")
    }
}
