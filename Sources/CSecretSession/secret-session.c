// SPDX-License-Identifier: MIT
#ifdef KEYCHAIN_SECRET_SERVICE

#include "CSecretSession.h"
#include "libsecret-functions.h"

#define session_functions keychain_session_functions

struct KeychainSecretSession {
    SecretService parent;
};

typedef struct {
    SecretServiceClass parent;
} KeychainSecretSessionClass;

static GObjectClass *parent_class;

// SecretService's own constructor insists on the shared session bus, whose end is the end of the process. The properties
// are construct-only: they can be corrected here, and only here. The name of the service stays as it is, since GDBusProxy
// leaks the old one when it is set again.
static GObject *keychain_secret_session_constructor(GType type, guint count, GObjectConstructParam *parameters) {
    GObject *object = parent_class->constructor(type, count, parameters);
    session_functions.g_object_set(object, "g-bus-type", G_BUS_TYPE_NONE, "g-flags",
                                   G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES |
                                       G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS |
                                       G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START,
                                   NULL);
    return object;
}

static void keychain_secret_session_class_init(gpointer class, gpointer data) {
    (void)data;
    parent_class = session_functions.g_type_class_peek_parent(class);
    ((GObjectClass *)class)->constructor = keychain_secret_session_constructor;
}

// By hand what G_DEFINE_TYPE does with functions that the linker finds. Sessions are opened on one thread.
static GType keychain_secret_session_get_type(void) {
    static GType type;
    if (!type) {
        type = session_functions.g_type_register_static_simple(
            session_functions.secret_service_get_type(), "KeychainSecretSession", sizeof(KeychainSecretSessionClass),
            keychain_secret_session_class_init, sizeof(KeychainSecretSession), NULL, (GTypeFlags)0);
    }
    return type;
}

void keychain_secret_session_open(GDBusConnection *connection, int timeout_msec, GCancellable *cancellable,
                                  GAsyncReadyCallback callback, gpointer user_data) {
    session_functions.g_async_initable_new_async(
        keychain_secret_session_get_type(), G_PRIORITY_DEFAULT, cancellable, callback, user_data, "g-connection",
        connection, "g-default-timeout", timeout_msec, "flags", SECRET_SERVICE_OPEN_SESSION, NULL);
}

KeychainSecretSession *keychain_secret_session_open_finish(GObject *source, GAsyncResult *result, GError **error) {
    return (KeychainSecretSession *)session_functions.g_async_initable_new_finish((GAsyncInitable *)source, result,
                                                                                  error);
}

const char *keychain_secret_session_path(KeychainSecretSession *session) {
    return session_functions.secret_service_get_session_dbus_path(&session->parent);
}

GVariant *keychain_secret_session_encode(KeychainSecretSession *session, const void *bytes, gsize count) {
    // No server keeps another content type, and text/plain is what every program reads.
    SecretValue *value = session_functions.secret_value_new(bytes, (gssize)count, "text/plain");
    GVariant *encoded = session_functions.secret_service_encode_dbus_secret(&session->parent, value);
    session_functions.secret_value_unref(value);
    return encoded;
}

KeychainSecretValue *keychain_secret_session_decode(KeychainSecretSession *session, GVariant *secret) {
    return (KeychainSecretValue *)session_functions.secret_service_decode_dbus_secret(&session->parent, secret);
}

const void *keychain_secret_value_bytes(KeychainSecretValue *value, gsize *count) {
    return session_functions.secret_value_get((SecretValue *)value, count);
}

void keychain_secret_value_free(KeychainSecretValue *value) {
    session_functions.secret_value_unref(value);
}

#endif
