// SPDX-License-Identifier: MIT

@_exported public import BackendMemory
@_exported public import KeychainAPI
@_exported public import KeychainArchive
@_exported public import KeychainAuthentication
@_exported public import KeychainImport

#if File
    @_exported public import BackendFile
#endif
#if SecretService
    @_exported public import BackendSecretService
#endif

extension DriverRegistry {
    /// Every driver that this package was built with.
    public static let standard: DriverRegistry = {
        var registry = DriverRegistry([.memory])
        #if File
            registry.register(.file)
        #endif
        #if SecretService
            registry.register(.secretService)
        #endif
        return registry
    }()
}
