// SPDX-License-Identifier: MIT
// The functions of OpenSSL's libcrypto, found when the first key or certificate is touched and not when the program
// starts: loading it takes longer than reading an item from a file, and who stores passwords alone need not have it.
#ifndef COPENSSLFUNCTIONS_H
#define COPENSSLFUNCTIONS_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/// Every function of the table, by its own name.
#define KEYCHAIN_OPENSSL_FUNCTIONS(FUNCTION) \
    FUNCTION(ASN1_INTEGER_get)                  \
    FUNCTION(ASN1_STRING_get0_data)             \
    FUNCTION(ASN1_STRING_length)                \
    FUNCTION(ASN1_STRING_to_UTF8)               \
    FUNCTION(ASN1_STRING_type)                  \
    FUNCTION(ASN1_TIME_to_tm)                   \
    FUNCTION(ASN1_item_unpack)                  \
    FUNCTION(BIO_ctrl)                          \
    FUNCTION(BIO_free)                          \
    FUNCTION(BIO_new)                           \
    FUNCTION(BIO_new_mem_buf)                   \
    FUNCTION(BIO_s_mem)                         \
    FUNCTION(BIO_s_secmem)                      \
    FUNCTION(BN_bn2binpad)                      \
    FUNCTION(BN_clear_free)                     \
    FUNCTION(CRYPTO_free)                       \
    FUNCTION(CRYPTO_secure_clear_free)          \
    FUNCTION(ERR_clear_error)                   \
    FUNCTION(ERR_error_string_n)                \
    FUNCTION(ERR_peek_error)                    \
    FUNCTION(ERR_peek_last_error)               \
    FUNCTION(EVP_Digest)                        \
    FUNCTION(EVP_DigestSign)                    \
    FUNCTION(EVP_DigestSignInit_ex)             \
    FUNCTION(EVP_DigestVerify)                  \
    FUNCTION(EVP_DigestVerifyInit_ex)           \
    FUNCTION(EVP_MD_CTX_free)                   \
    FUNCTION(EVP_MD_CTX_new)                    \
    FUNCTION(EVP_PKCS82PKEY)                    \
    FUNCTION(EVP_PKEY2PKCS8)                    \
    FUNCTION(EVP_PKEY_CTX_free)                 \
    FUNCTION(EVP_PKEY_CTX_new_from_pkey)        \
    FUNCTION(EVP_PKEY_CTX_set_rsa_padding)      \
    FUNCTION(EVP_PKEY_CTX_set_rsa_pss_saltlen)  \
    FUNCTION(EVP_PKEY_Q_keygen)                 \
    FUNCTION(EVP_PKEY_derive)                   \
    FUNCTION(EVP_PKEY_derive_init)              \
    FUNCTION(EVP_PKEY_derive_set_peer)          \
    FUNCTION(EVP_PKEY_eq)                       \
    FUNCTION(EVP_PKEY_free)                     \
    FUNCTION(EVP_PKEY_get_bits)                 \
    FUNCTION(EVP_PKEY_get_bn_param)             \
    FUNCTION(EVP_PKEY_get_group_name)           \
    FUNCTION(EVP_PKEY_get_raw_private_key)      \
    FUNCTION(EVP_PKEY_get_raw_public_key)       \
    FUNCTION(EVP_PKEY_is_a)                     \
    FUNCTION(EVP_PKEY_new_raw_private_key)      \
    FUNCTION(EVP_PKEY_new_raw_public_key)       \
    FUNCTION(EVP_PKEY_pairwise_check)           \
    FUNCTION(EVP_PKEY_public_check_quick)       \
    FUNCTION(EVP_aes_256_cbc)                   \
    FUNCTION(EVP_sha1)                          \
    FUNCTION(EVP_sha256)                        \
    FUNCTION(GENERAL_NAMES_free)                \
    FUNCTION(GENERAL_NAME_get0_value)           \
    FUNCTION(OBJ_nid2sn)                        \
    FUNCTION(OBJ_obj2nid)                       \
    FUNCTION(OPENSSL_sk_new_null)               \
    FUNCTION(OPENSSL_sk_num)                    \
    FUNCTION(OPENSSL_sk_pop_free)               \
    FUNCTION(OPENSSL_sk_push)                   \
    FUNCTION(OPENSSL_sk_value)                  \
    FUNCTION(OSSL_PROVIDER_try_load)            \
    FUNCTION(PBE2PARAM_free)                    \
    FUNCTION(PBE2PARAM_it)                      \
    FUNCTION(PBEPARAM_free)                     \
    FUNCTION(PBEPARAM_it)                       \
    FUNCTION(PBKDF2PARAM_free)                  \
    FUNCTION(PBKDF2PARAM_it)                    \
    FUNCTION(PEM_read_bio_ex)                   \
    FUNCTION(PEM_write_bio)                     \
    FUNCTION(PKCS12_SAFEBAG_free)               \
    FUNCTION(PKCS12_SAFEBAG_get0_attr)          \
    FUNCTION(PKCS12_SAFEBAG_get0_p8inf)         \
    FUNCTION(PKCS12_SAFEBAG_get0_pkcs8)         \
    FUNCTION(PKCS12_SAFEBAG_get0_safes)         \
    FUNCTION(PKCS12_SAFEBAG_get1_cert)          \
    FUNCTION(PKCS12_SAFEBAG_get_bag_nid)        \
    FUNCTION(PKCS12_SAFEBAG_get_nid)            \
    FUNCTION(PKCS12_create)                     \
    FUNCTION(PKCS12_decrypt_skey)               \
    FUNCTION(PKCS12_free)                       \
    FUNCTION(PKCS12_get0_mac)                   \
    FUNCTION(PKCS12_get_friendlyname)           \
    FUNCTION(PKCS12_mac_present)                \
    FUNCTION(PKCS12_unpack_authsafes)           \
    FUNCTION(PKCS12_unpack_p7data)              \
    FUNCTION(PKCS12_unpack_p7encdata)           \
    FUNCTION(PKCS12_verify_mac)                 \
    FUNCTION(PKCS7_free)                        \
    FUNCTION(PKCS8_PRIV_KEY_INFO_free)          \
    FUNCTION(PKCS8_decrypt)                     \
    FUNCTION(PKCS8_encrypt)                     \
    FUNCTION(SCRYPT_PARAMS_free)                \
    FUNCTION(SCRYPT_PARAMS_it)                  \
    FUNCTION(X509_ALGOR_get0)                   \
    FUNCTION(X509_NAME_ENTRY_get_data)          \
    FUNCTION(X509_NAME_ENTRY_get_object)        \
    FUNCTION(X509_NAME_ENTRY_set)               \
    FUNCTION(X509_NAME_add_entry_by_OBJ)        \
    FUNCTION(X509_NAME_entry_count)             \
    FUNCTION(X509_NAME_free)                    \
    FUNCTION(X509_NAME_get_entry)               \
    FUNCTION(X509_NAME_new)                     \
    FUNCTION(X509_NAME_print_ex)                \
    FUNCTION(X509_SIG_free)                     \
    FUNCTION(X509_SIG_get0)                     \
    FUNCTION(X509_STORE_CTX_free)               \
    FUNCTION(X509_STORE_CTX_get0_chain)         \
    FUNCTION(X509_STORE_CTX_get0_param)         \
    FUNCTION(X509_STORE_CTX_get_current_cert)   \
    FUNCTION(X509_STORE_CTX_get_error)          \
    FUNCTION(X509_STORE_CTX_init)               \
    FUNCTION(X509_STORE_CTX_new)                \
    FUNCTION(X509_STORE_add_cert)               \
    FUNCTION(X509_STORE_free)                   \
    FUNCTION(X509_STORE_new)                    \
    FUNCTION(X509_VERIFY_PARAM_set1_host)       \
    FUNCTION(X509_VERIFY_PARAM_set_time)        \
    FUNCTION(X509_digest)                       \
    FUNCTION(X509_email_free)                   \
    FUNCTION(X509_free)                         \
    FUNCTION(X509_get0_authority_key_id)        \
    FUNCTION(X509_get0_notAfter)                \
    FUNCTION(X509_get0_notBefore)               \
    FUNCTION(X509_get0_serialNumber)            \
    FUNCTION(X509_get0_subject_key_id)          \
    FUNCTION(X509_get1_email)                   \
    FUNCTION(X509_get_ext_d2i)                  \
    FUNCTION(X509_get_issuer_name)              \
    FUNCTION(X509_get_pubkey)                   \
    FUNCTION(X509_get_subject_name)             \
    FUNCTION(X509_get_version)                  \
    FUNCTION(X509_pubkey_digest)                \
    FUNCTION(X509_up_ref)                       \
    FUNCTION(X509_verify)                       \
    FUNCTION(X509_verify_cert)                  \
    FUNCTION(X509_verify_cert_error_string)     \
    FUNCTION(d2i_AutoPrivateKey)                \
    FUNCTION(d2i_PKCS12)                        \
    FUNCTION(d2i_PUBKEY)                        \
    FUNCTION(d2i_PublicKey)                     \
    FUNCTION(d2i_X509)                          \
    FUNCTION(d2i_X509_SIG)                      \
    FUNCTION(i2d_ASN1_INTEGER)                  \
    FUNCTION(i2d_PKCS12)                        \
    FUNCTION(i2d_PKCS8_PRIV_KEY_INFO)           \
    FUNCTION(i2d_PUBKEY)                        \
    FUNCTION(i2d_PrivateKey)                    \
    FUNCTION(i2d_PublicKey)                     \
    FUNCTION(i2d_X509)                          \
    FUNCTION(i2d_X509_NAME)                     \
    FUNCTION(i2d_X509_SIG)

#define KEYCHAIN_OPENSSL_MEMBER(name) __typeof__(name) *name;

/// Pointers to libcrypto's functions, which nobody changes.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    KEYCHAIN_OPENSSL_FUNCTIONS(KEYCHAIN_OPENSSL_MEMBER)
} KeychainOpenSSL;

/// Loads libcrypto at the first call; safe on any thread, and the library stays.
///
/// The functions, or NULL if the library or one of its functions is missing.
const KeychainOpenSSL *keychain_openssl(void);

/// Why keychain_openssl() gave NULL, as the dynamic linker says it.
const char *keychain_openssl_failure(void);

// What are macros in OpenSSL's headers, or take a variable number of arguments. To be called after keychain_openssl().

void openssl_free(void *bytes);
void openssl_secure_clear_free(void *bytes, size_t count);
long openssl_mem_data(BIO *bio, char **bytes);
EVP_PKEY *openssl_generate_rsa(size_t bits);
EVP_PKEY *openssl_generate_ec(const char *curve);
EVP_PKEY *openssl_generate(const char *type);
int openssl_set_rsa_padding(EVP_PKEY_CTX *context, int padding);
const unsigned char *openssl_dns_name(const GENERAL_NAMES *names, int index, int *count);
int openssl_general_name_count(const GENERAL_NAMES *names);
GENERAL_NAMES *openssl_subject_alternative_names(const X509 *certificate);
int openssl_string_count(const STACK_OF(OPENSSL_STRING) *texts);
const char *openssl_string(const STACK_OF(OPENSSL_STRING) *texts, int index);
STACK_OF(X509) *openssl_certificates_new(void);
int openssl_certificates_push(STACK_OF(X509) *stack, X509 *certificate);
int openssl_certificates_count(const STACK_OF(X509) *stack);
X509 *openssl_certificate(const STACK_OF(X509) *stack, int index);
void openssl_certificates_free(STACK_OF(X509) *stack);
int openssl_content_count(const STACK_OF(PKCS7) *contents);
PKCS7 *openssl_content(const STACK_OF(PKCS7) *contents, int index);
void openssl_contents_free(STACK_OF(PKCS7) *contents);
int openssl_bag_count(const STACK_OF(PKCS12_SAFEBAG) *bags);
PKCS12_SAFEBAG *openssl_bag(const STACK_OF(PKCS12_SAFEBAG) *bags, int index);
void openssl_bags_free(STACK_OF(PKCS12_SAFEBAG) *bags);
const X509_ALGOR *openssl_content_algorithm(const PKCS7 *content);
int openssl_content_is_data(const PKCS7 *content);
long openssl_iterations(const X509_ALGOR *algorithm);

#endif
