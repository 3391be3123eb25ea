// SPDX-License-Identifier: MIT
// What of OpenSSL 3's libcrypto keys, certificates and PKCS#12 need. Swift sees functions and no macros: each macro that is
// used has a function of its own here.
#ifndef KEYCHAIN_COPENSSL_SHIM_H
#define KEYCHAIN_COPENSSL_SHIM_H

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

static inline void openssl_free(void *bytes) { OPENSSL_free(bytes); }
static inline void openssl_secure_clear_free(void *bytes, size_t count) { OPENSSL_secure_clear_free(bytes, count); }
static inline long openssl_mem_data(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

// Keys

static inline EVP_PKEY *openssl_generate_rsa(size_t bits) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits); }
static inline EVP_PKEY *openssl_generate_ec(const char *curve) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve); }
static inline EVP_PKEY *openssl_generate(const char *type) { return EVP_PKEY_Q_keygen(NULL, NULL, type); }
static inline int openssl_set_rsa_padding(EVP_PKEY_CTX *context, int padding) {
    return EVP_PKEY_CTX_set_rsa_padding(context, padding);
}
static const unsigned int openssl_pem_secure = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;

// Names and extensions

static inline const unsigned char *openssl_dns_name(const GENERAL_NAMES *names, int index, int *count) {
    int type;
    const ASN1_STRING *text = (const ASN1_STRING *)GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, index), &type);
    if (type != GEN_DNS) return NULL;
    *count = ASN1_STRING_length(text);
    return ASN1_STRING_get0_data(text);
}
static inline int openssl_general_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAMES *openssl_subject_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int openssl_string_count(const STACK_OF(OPENSSL_STRING) *texts) { return sk_OPENSSL_STRING_num(texts); }
static inline const char *openssl_string(const STACK_OF(OPENSSL_STRING) *texts, int index) {
    return sk_OPENSSL_STRING_value(texts, index);
}
static const unsigned long openssl_name_flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;

// Stacks

static inline STACK_OF(X509) *openssl_certificates_new(void) { return sk_X509_new_null(); }
static inline int openssl_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return X509_up_ref(certificate) && sk_X509_push(stack, certificate);
}
static inline int openssl_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *openssl_certificate(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline void openssl_certificates_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

// PKCS#12

static inline int openssl_content_count(const STACK_OF(PKCS7) *contents) { return sk_PKCS7_num(contents); }
static inline PKCS7 *openssl_content(const STACK_OF(PKCS7) *contents, int index) { return sk_PKCS7_value(contents, index); }
static inline void openssl_contents_free(STACK_OF(PKCS7) *contents) { sk_PKCS7_pop_free(contents, PKCS7_free); }
static inline int openssl_bag_count(const STACK_OF(PKCS12_SAFEBAG) *bags) { return sk_PKCS12_SAFEBAG_num(bags); }
static inline PKCS12_SAFEBAG *openssl_bag(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline void openssl_bags_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}
// The algorithm by which a part is encrypted, NULL if it is not.
static inline const X509_ALGOR *openssl_content_algorithm(const PKCS7 *content) {
    if (OBJ_obj2nid(content->type) != NID_pkcs7_encrypted || !content->d.encrypted) return NULL;
    return content->d.encrypted->enc_data->algorithm;
}
static inline int openssl_content_is_data(const PKCS7 *content) { return OBJ_obj2nid(content->type) == NID_pkcs7_data; }

// How many times a passphrase is hashed by an algorithm, -1 if that cannot be told.
static inline long openssl_iterations(const X509_ALGOR *algorithm) {
    const ASN1_OBJECT *name;
    const void *parameters;
    int type;
    long iterations = -1;
    X509_ALGOR_get0(&name, &type, &parameters, algorithm);
    if (type != V_ASN1_SEQUENCE) return -1;
    if (OBJ_obj2nid(name) == NID_pbes2) {
        PBE2PARAM *pbes2 = (PBE2PARAM *)ASN1_item_unpack((const ASN1_STRING *)parameters, ASN1_ITEM_rptr(PBE2PARAM));
        if (!pbes2) return -1;
        X509_ALGOR_get0(&name, &type, &parameters, pbes2->keyfunc);
        if (type == V_ASN1_SEQUENCE && OBJ_obj2nid(name) == NID_id_pbkdf2) {
            PBKDF2PARAM *pbkdf2 =
                (PBKDF2PARAM *)ASN1_item_unpack((const ASN1_STRING *)parameters, ASN1_ITEM_rptr(PBKDF2PARAM));
            if (pbkdf2) iterations = ASN1_INTEGER_get(pbkdf2->iter);
            PBKDF2PARAM_free(pbkdf2);
        } else if (OBJ_obj2nid(name) == NID_id_scrypt) {
            // OpenSSL itself bounds the memory that scrypt may take, and with it the time.
            iterations = 1;
        }
        PBE2PARAM_free(pbes2);
        return iterations;
    }
    PBEPARAM *pbe = (PBEPARAM *)ASN1_item_unpack((const ASN1_STRING *)parameters, ASN1_ITEM_rptr(PBEPARAM));
    if (pbe) iterations = pbe->iter ? ASN1_INTEGER_get(pbe->iter) : 1;
    PBEPARAM_free(pbe);
    return iterations;
}

#endif
