// SPDX-License-Identifier: MIT
#if X509
    public import KeychainAPI

    /// The algorithm of a key, with what is chosen when one is generated.
    public enum KeyAlgorithm: Sendable, Hashable {
        /// An elliptic curve over a prime field.
        case ec(EllipticCurve)
        /// RSA with a modulus of so many bits, 1024 to 8192; 3072 is a good choice.
        case rsa(bits: Int)
        /// Signatures by Edwards-curve 25519 (RFC 8032).
        case ed25519
        /// Key agreement by Montgomery-curve 25519 (RFC 7748).
        case x25519

        /// P-256 (secp256r1), the usual choice.
        public static let p256 = KeyAlgorithm.ec(.p256)
        /// P-384 (secp384r1).
        public static let p384 = KeyAlgorithm.ec(.p384)
        /// P-521 (secp521r1).
        public static let p521 = KeyAlgorithm.ec(.p521)

        /// The type that items of such keys have.
        public var keyType: KeyType {
            switch self {
            case .ec: .ecsecPrimeRandom
            case .rsa: .rsa
            case .ed25519: .ed25519
            case .x25519: .x25519
            }
        }

        /// The size that items of such keys have, in bits.
        public var sizeInBits: Int {
            switch self {
            case .ec(let curve): curve.sizeInBits
            case .rsa(let bits): bits
            case .ed25519, .x25519: 256
            }
        }
    }

    extension KeyAlgorithm: CustomStringConvertible {
        /// The usual name, for example `P-256` or `RSA 3072`.
        public var description: String {
            switch self {
            case .ec(let curve): curve.rawValue
            case .rsa(let bits): "RSA \(bits)"
            case .ed25519: "Ed25519"
            case .x25519: "X25519"
            }
        }
    }
#endif
