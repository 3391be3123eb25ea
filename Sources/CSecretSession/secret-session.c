// SPDX-License-Identifier: MIT
#ifdef KEYCHAIN_SECRET_SERVICE

#define SECRET_API_SUBJECT_TO_CHANGE
#include "CSecretSession.h"
#include <libsecret/secret.h>

struct KeychainSecretSession {
    SecretService parent;
};

typedef struct {
    SecretServiceClass parent;
} KeychainSecretSessionClass;

static GType keychain_secret_session_get_type(void);

G_DEFINE_TYPE(KeychainSecretSession, keychain_secret_session, SECRET_TYPE_SERVICE)

// SecretService's own constructor insists on the shared session bus, whose end is the end of the process. The properties
// are construct-only: they can be corrected here, and only here. The name of the service stays as it is, since GDBusProxy
// leaks the old one when it is set again.
static GObject *keychain_secret_session_constructor(GType type, guint count, GObjectConstructParam *parameters) {
    GObject *object =
        G_OBJECT_CLASS(keychain_secret_session_parent_class)->constructor(type, count, parameters);
    g_object_set(object, "g-bus-type", G_BUS_TYPE_NONE, "g-flags",
                 G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS |
                     G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START,
                 NULL);
    return object;
}

static void keychain_secret_session_class_init(KeychainSecretSessionClass *class) {
    G_OBJECT_CLASS(class)->constructor = keychain_secret_session_constructor;
}

static void keychain_secret_session_init(KeychainSecretSession *self) {
    (void)self;
}

void keychain_secret_session_open(GDBusConnection *connection, int timeout_msec, GCancellable *cancellable,
                                  GAsyncReadyCallback callback, gpointer user_data) {
    g_async_initable_new_async(keychain_secret_session_get_type(), G_PRIORITY_DEFAULT, cancellable, callback,
                               user_data, "g-connection", connection, "g-default-timeout", timeout_msec,
                               "flags", SECRET_SERVICE_OPEN_SESSION, NULL);
}

KeychainSecretSession *keychain_secret_session_open_finish(GObject *source, GAsyncResult *result, GError **error) {
    return (KeychainSecretSession *)g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, error);
}

const char *keychain_secret_session_path(KeychainSecretSession *session) {
    return secret_service_get_session_dbus_path(&session->parent);
}

GVariant *keychain_secret_session_encode(KeychainSecretSession *session, const void *bytes, gsize count) {
    // No server keeps another content type, and text/plain is what every program reads.
    SecretValue *value = secret_value_new(bytes, (gssize)count, "text/plain");
    GVariant *encoded = secret_service_encode_dbus_secret(&session->parent, value);
    secret_value_unref(value);
    return encoded;
}

KeychainSecretValue *keychain_secret_session_decode(KeychainSecretSession *session, GVariant *secret) {
    return (KeychainSecretValue *)secret_service_decode_dbus_secret(&session->parent, secret);
}

const void *keychain_secret_value_bytes(KeychainSecretValue *value, gsize *count) {
    return secret_value_get((SecretValue *)value, count);
}

void keychain_secret_value_free(KeychainSecretValue *value) {
    secret_value_unref(value);
}

#endif
