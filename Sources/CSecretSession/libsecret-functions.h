// SPDX-License-Identifier: MIT
// What only the session needs of libsecret and GObject.
#ifndef SESSIONFUNCTIONS_H
#define SESSIONFUNCTIONS_H

#define SECRET_API_SUBJECT_TO_CHANGE
#include "LibsecretFunctions.h"
#include <libsecret/secret.h>

#define KEYCHAIN_SESSION_FUNCTIONS(FUNCTION)      \
    FUNCTION(g_async_initable_new_async)          \
    FUNCTION(g_async_initable_new_finish)         \
    FUNCTION(g_object_set)                        \
    FUNCTION(g_type_class_peek_parent)            \
    FUNCTION(g_type_register_static_simple)       \
    FUNCTION(secret_service_decode_dbus_secret)   \
    FUNCTION(secret_service_encode_dbus_secret)   \
    FUNCTION(secret_service_get_session_dbus_path) \
    FUNCTION(secret_service_get_type)             \
    FUNCTION(secret_value_get)                    \
    FUNCTION(secret_value_new)                    \
    FUNCTION(secret_value_unref)

typedef struct {
    KEYCHAIN_SESSION_FUNCTIONS(KEYCHAIN_FUNCTION_MEMBER)
} KeychainSessionFunctions;

/// Filled by keychain_glib().
extern KeychainSessionFunctions keychain_session_functions;

#endif
