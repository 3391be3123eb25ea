// SPDX-License-Identifier: MIT
#if X509
    package import KeychainAPI

    extension CryptoKey {
        /// A query with what is derived from the key, as Apple derives it; what is set in it already stays.
        ///
        /// - Throws: `invalidParameter` if type or class are set to what the key is not.
        func completing(_ query: SecItemQuery<SecKey>) throws(KeychainError) -> SecItemQuery<SecKey> {
            var query = query
            guard query.keyType ?? descriptor.keyType == descriptor.keyType,
                query.keyClass ?? descriptor.keyClass == descriptor.keyClass
            else {
                throw KeychainError(
                    .invalidParameter,
                    "The query is for another kind of key than a \(self). Give it the key's descriptor."
                )
            }
            query.keyType = descriptor.keyType
            query.keyClass = descriptor.keyClass
            query.keySizeInBits = query.keySizeInBits ?? algorithm.sizeInBits
            query.effectiveKeySize = query.effectiveKeySize ?? algorithm.sizeInBits
            query.applicationLabel = query.applicationLabel ?? applicationLabel
            query.isPermanent = query.isPermanent ?? true
            // One half of a pair can what the other one cannot.
            query.canDecrypt = query.canDecrypt ?? isPrivate
            query.canDerive = query.canDerive ?? isPrivate
            query.canSign = query.canSign ?? isPrivate
            query.canUnwrap = query.canUnwrap ?? isPrivate
            query.canEncrypt = query.canEncrypt ?? !isPrivate
            query.canVerify = query.canVerify ?? !isPrivate
            query.canWrap = query.canWrap ?? !isPrivate
            return query
        }

        /// The key that an item is.
        ///
        /// - Throws: `decode` if it is none.
        package init(_ info: SecItemInfo<SecKey>, _ value: SecureBytes) throws(KeychainError) {
            guard let keyType = info.keyType, let keyClass = info.keyClass else {
                throw KeychainError(
                    .decode,
                    "The item does not say of which type and class its key is. Retrieve it as Data."
                )
            }
            try self.init(
                externalRepresentation: value,
                descriptor: SecKeyDescriptor(keyType: keyType, keyClass: keyClass),
                sizeInBits: info.keySizeInBits ?? 0
            )
        }
    }
#endif
