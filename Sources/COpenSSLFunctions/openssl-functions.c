// SPDX-License-Identifier: MIT
#ifdef KEYCHAIN_X509

#include "COpenSSLFunctions.h"
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

static KeychainOpenSSL library;
static int is_complete;
static char failure[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int find(void *handle, const char *name, void *function) {
    // dlsym(3): a function pointer is stored through an object pointer.
    *(void **)function = dlsym(handle, name);
    if (*(void **)function) { return 1; }
    snprintf(failure, sizeof failure, "libcrypto.so.3 has no %s", name);
    return 0;
}

static void load(void) {
    void *handle = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "libcrypto.so.3");
        return;
    }
    int found = 1;
#define FIND(name) found = found && find(handle, #name, &library.name);
    KEYCHAIN_OPENSSL_FUNCTIONS(FIND)
#undef FIND
    is_complete = found;
}

const KeychainOpenSSL *keychain_openssl(void) {
    pthread_once(&once, load);
    return is_complete ? &library : NULL;
}

const char *keychain_openssl_failure(void) {
    return failure;
}

// Stacks of anything. OpenSSL's own functions for each type are macros of its headers, which link with the library.
static int count(const void *stack) { return library.OPENSSL_sk_num(stack); }
static void *element(const void *stack, int index) { return library.OPENSSL_sk_value(stack, index); }
static void free_all(void *stack, OPENSSL_sk_freefunc function) { library.OPENSSL_sk_pop_free(stack, function); }

void openssl_free(void *bytes) { library.CRYPTO_free(bytes, __FILE__, __LINE__); }
void openssl_secure_clear_free(void *bytes, size_t count) {
    library.CRYPTO_secure_clear_free(bytes, count, __FILE__, __LINE__);
}
long openssl_mem_data(BIO *bio, char **bytes) { return library.BIO_ctrl(bio, BIO_CTRL_INFO, 0, bytes); }

// Keys

EVP_PKEY *openssl_generate_rsa(size_t bits) { return library.EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits); }
EVP_PKEY *openssl_generate_ec(const char *curve) { return library.EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve); }
EVP_PKEY *openssl_generate(const char *type) { return library.EVP_PKEY_Q_keygen(NULL, NULL, type); }
int openssl_set_rsa_padding(EVP_PKEY_CTX *context, int padding) {
    return library.EVP_PKEY_CTX_set_rsa_padding(context, padding);
}

// Names and extensions

const unsigned char *openssl_dns_name(const GENERAL_NAMES *names, int index, int *count) {
    int type;
    const ASN1_STRING *text = library.GENERAL_NAME_get0_value(element(names, index), &type);
    if (type != GEN_DNS) return NULL;
    *count = library.ASN1_STRING_length(text);
    return library.ASN1_STRING_get0_data(text);
}
int openssl_general_name_count(const GENERAL_NAMES *names) { return count(names); }
GENERAL_NAMES *openssl_subject_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)library.X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
int openssl_string_count(const STACK_OF(OPENSSL_STRING) *texts) { return count(texts); }
const char *openssl_string(const STACK_OF(OPENSSL_STRING) *texts, int index) {
    return element(texts, index);
}

// Stacks

STACK_OF(X509) *openssl_certificates_new(void) { return (STACK_OF(X509) *)library.OPENSSL_sk_new_null(); }
int openssl_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return library.X509_up_ref(certificate) && library.OPENSSL_sk_push((OPENSSL_STACK *)stack, certificate);
}
int openssl_certificates_count(const STACK_OF(X509) *stack) { return count(stack); }
X509 *openssl_certificate(const STACK_OF(X509) *stack, int index) { return element(stack, index); }
void openssl_certificates_free(STACK_OF(X509) *stack) { free_all(stack, (OPENSSL_sk_freefunc)library.X509_free); }

// PKCS#12

int openssl_content_count(const STACK_OF(PKCS7) *contents) { return count(contents); }
PKCS7 *openssl_content(const STACK_OF(PKCS7) *contents, int index) { return element(contents, index); }
void openssl_contents_free(STACK_OF(PKCS7) *contents) { free_all(contents, (OPENSSL_sk_freefunc)library.PKCS7_free); }
int openssl_bag_count(const STACK_OF(PKCS12_SAFEBAG) *bags) { return count(bags); }
PKCS12_SAFEBAG *openssl_bag(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return element(bags, index);
}
void openssl_bags_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
    free_all(bags, (OPENSSL_sk_freefunc)library.PKCS12_SAFEBAG_free);
}
// The algorithm by which a part is encrypted, NULL if it is not.
const X509_ALGOR *openssl_content_algorithm(const PKCS7 *content) {
    if (library.OBJ_obj2nid(content->type) != NID_pkcs7_encrypted || !content->d.encrypted) return NULL;
    return content->d.encrypted->enc_data->algorithm;
}
int openssl_content_is_data(const PKCS7 *content) { return library.OBJ_obj2nid(content->type) == NID_pkcs7_data; }

// A number; what is negative or too large for one is very large.
static long count_in(const ASN1_INTEGER *number) {
    long count = library.ASN1_INTEGER_get(number);
    return count < 0 ? LONG_MAX : count;
}
static long product(long left, long right) {
    long result;
    return __builtin_mul_overflow(left, right, &result) ? LONG_MAX : result;
}

// How many times a passphrase is hashed by an algorithm, -1 if that cannot be told.
long openssl_iterations(const X509_ALGOR *algorithm) {
    const ASN1_OBJECT *name;
    const void *parameters;
    int type;
    long iterations = -1;
    library.X509_ALGOR_get0(&name, &type, &parameters, algorithm);
    if (type != V_ASN1_SEQUENCE) return -1;
    if (library.OBJ_obj2nid(name) == NID_pbes2) {
        PBE2PARAM *pbes2 = (PBE2PARAM *)library.ASN1_item_unpack((const ASN1_STRING *)parameters, library.PBE2PARAM_it());
        if (!pbes2) return -1;
        library.X509_ALGOR_get0(&name, &type, &parameters, pbes2->keyfunc);
        if (type == V_ASN1_SEQUENCE && library.OBJ_obj2nid(name) == NID_id_pbkdf2) {
            PBKDF2PARAM *pbkdf2 =
                (PBKDF2PARAM *)library.ASN1_item_unpack((const ASN1_STRING *)parameters, library.PBKDF2PARAM_it());
            if (pbkdf2) iterations = count_in(pbkdf2->iter);
            library.PBKDF2PARAM_free(pbkdf2);
        } else if (library.OBJ_obj2nid(name) == NID_id_scrypt) {
            // Of about the length of one round of PBKDF2: each block that is mixed (RFC 7914, 2).
            SCRYPT_PARAMS *scrypt = (SCRYPT_PARAMS *)library.ASN1_item_unpack((const ASN1_STRING *)parameters,
                                                                              library.SCRYPT_PARAMS_it());
            if (scrypt) {
                iterations = product(count_in(scrypt->costParameter),
                                     product(count_in(scrypt->blockSize), count_in(scrypt->parallelizationParameter)));
            }
            library.SCRYPT_PARAMS_free(scrypt);
        }
        library.PBE2PARAM_free(pbes2);
        return iterations;
    }
    PBEPARAM *pbe = (PBEPARAM *)library.ASN1_item_unpack((const ASN1_STRING *)parameters, library.PBEPARAM_it());
    if (pbe) iterations = pbe->iter ? count_in(pbe->iter) : 1;
    library.PBEPARAM_free(pbe);
    return iterations;
}

#endif
