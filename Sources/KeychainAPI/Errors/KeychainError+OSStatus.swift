// SPDX-License-Identifier: MIT

/// A result code of Apple's Security framework.
public typealias OSStatus = Int32

extension KeychainError.Code {
    // Security/SecBase.h; where the framework has no code of its own, Apple's MacErrors.h form of the POSIX error.
    private static let statuses: [(code: KeychainError.Code, status: OSStatus)] = [
        (.duplicateItem, -25_299),  // errSecDuplicateItem
        (.itemNotFound, -25_300),  // errSecItemNotFound
        (.invalidParameter, -50),  // errSecParam
        (.unsupported, -4),  // errSecUnimplemented
        (.authenticationFailed, -25_293),  // errSecAuthFailed
        (.interactionNotAllowed, -25_308),  // errSecInteractionNotAllowed
        (.userCanceled, -128),  // errSecUserCanceled
        (.unavailable, -25_291),  // errSecNotAvailable
        (.accessDenied, -34_018),  // errSecMissingEntitlement
        (.readOnly, -25_292),  // errSecReadOnly
        (.timedOut, 100_060),  // kPOSIXErrorETIMEDOUT
        (.cancelled, 100_089),  // kPOSIXErrorECANCELED
        (.busy, 100_016),  // kPOSIXErrorEBUSY
        (.dataTooLarge, -25_302),  // errSecDataTooLarge
        (.decode, -26_275),  // errSecDecode
        (.corrupt, -25_295),  // errSecInvalidKeychain
        (.rolledBack, 100_116),  // kPOSIXErrorESTALE of Linux
        (.insecurePermissions, 100_001),  // kPOSIXErrorEPERM
        (.outOfSpace, -34),  // errSecDiskFull
        (.io, -36),  // errSecIO
        (.ambiguous, -67_842),  // errSecMultipleValuesUnsupported
        (.internal, -67_671),  // errSecInternalError
    ]

    /// The code of Apple's Security framework that stands for this one.
    ///
    /// Each code has its own, so that the way back with ``init(osStatus:)`` is exact.
    public var osStatus: OSStatus {
        Self.statuses.first { $0.code == self }?.status ?? -67_671
    }

    /// Makes the code that stands for one of Apple's Security framework.
    ///
    /// - Parameter osStatus: A result code; nil comes back for one that has no counterpart here.
    public init?(osStatus: OSStatus) {
        guard let code = Self.statuses.first(where: { $0.status == osStatus })?.code else { return nil }
        self = code
    }
}
