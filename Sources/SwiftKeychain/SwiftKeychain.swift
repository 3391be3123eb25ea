// SPDX-License-Identifier: MIT

@_exported public import BackendMemory
@_exported public import KeychainAPI

#if File
    @_exported public import BackendFile
#endif
#if SecretService
    @_exported public import BackendSecretService
#endif

extension DriverRegistry {
    /// Every driver that this package was built with.
    public static let standard = DriverRegistry(standardDrivers)

    private static var standardDrivers: [DriverRegistration] {
        var drivers: [DriverRegistration] = [.memory]
        #if File
            drivers.append(.file)
        #endif
        #if SecretService
            //drivers.append(.secretService)
        #endif
        return drivers
    }
}
