// SPDX-License-Identifier: MIT
// An encrypted session with a Secret Service on a private connection: the one thing that needs libsecret's types.
#ifndef CSECRETSESSION_H
#define CSECRETSESSION_H

#include "LibsecretFunctions.h"
#include <gio/gio.h>

/// A session: libsecret's service object, put on a connection of our own. Reference counted by GObject.
typedef struct KeychainSecretSession KeychainSecretSession;

/// A decoded secret in libsecret's guarded memory.
typedef struct KeychainSecretValue KeychainSecretValue;

/// Opens a session with the service; the callback comes on the thread-default context.
void keychain_secret_session_open(GDBusConnection *connection, int timeout_msec, GCancellable *cancellable,
                                  GAsyncReadyCallback callback, gpointer user_data);

/// Ends keychain_secret_session_open(): a session that belongs to the caller, or NULL with an error.
KeychainSecretSession *keychain_secret_session_open_finish(GObject *source, GAsyncResult *result, GError **error);

/// The object path of the session, valid as long as the session.
const char *keychain_secret_session_path(KeychainSecretSession *session);

/// Encrypts bytes for a message: (oayays). The caller owns the result, which may be floating.
GVariant *keychain_secret_session_encode(KeychainSecretSession *session, const void *bytes, gsize count);

/// Decrypts an (oayays); NULL if it does not belong to this session or does not decrypt.
KeychainSecretValue *keychain_secret_session_decode(KeychainSecretSession *session, GVariant *secret);

/// The bytes of a decoded secret, valid until it is freed.
const void *keychain_secret_value_bytes(KeychainSecretValue *value, gsize *count);

/// Erases and frees a decoded secret.
void keychain_secret_value_free(KeychainSecretValue *value);

#endif
