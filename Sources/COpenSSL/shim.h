// SPDX-License-Identifier: MIT
// What of OpenSSL 3's libcrypto keys, certificates and PKCS#12 need: types and constants. The functions are those of
// COpenSSLFunctions, since a program must start without the library.
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

// Macros that Swift does not see.
static const unsigned int openssl_pem_secure = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;
static const unsigned long openssl_name_flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;

#endif
