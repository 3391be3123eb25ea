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

// SecretService's own constructor insists on the shared session bus, whose end is the end of the process, and on the
// well-known name, which may have another owner by the time a secret arrives. All four properties are construct-only:
// they can be corrected here, and only here.
static GObject *keychain_secret_session_constructor(GType type, guint count, GObjectConstructParam *parameters) {
    const char *owner = NULL;
    for (guint i = 0; i < count; i++) {
        if (g_str_equal(g_param_spec_get_name(parameters[i].pspec), "g-name")) {
            owner = g_value_get_string(parameters[i].value);
        }
    }
    // The parent overwrites the parameter, so its text has to be kept.
    char *name = g_strdup(owner);
    GObject *object =
        G_OBJECT_CLASS(keychain_secret_session_parent_class)->constructor(type, count, parameters);
    g_object_set(object, "g-bus-type", G_BUS_TYPE_NONE, "g-name", name, "g-flags",
                 G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS |
                     G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START,
                 NULL);
    g_free(name);
    return object;
}

static void keychain_secret_session_class_init(KeychainSecretSessionClass *class) {
    G_OBJECT_CLASS(class)->constructor = keychain_secret_session_constructor;
}

static void keychain_secret_session_init(KeychainSecretSession *self) {
    (void)self;
}

void keychain_secret_session_open(GDBusConnection *connection, const char *owner, int timeout_msec,
                                  GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data) {
    g_async_initable_new_async(keychain_secret_session_get_type(), G_PRIORITY_DEFAULT, cancellable, callback,
                               user_data, "g-connection", connection, "g-name", owner, "g-default-timeout",
                               timeout_msec, "flags", SECRET_SERVICE_OPEN_SESSION, NULL);
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
