// SPDX-License-Identifier: MIT
// The functions of libsecret and GLib, found when the first store of a Secret Service is opened and not when the program
// starts: loading the libraries takes longer than reading an item from a file, and a server need not have them.
#ifndef LIBSECRETFUNCTIONS_H
#define LIBSECRETFUNCTIONS_H

#include <gio/gio.h>

/// Every function of the table, by its own name.
#define KEYCHAIN_GLIB_FUNCTIONS(FUNCTION)              \
    FUNCTION(g_cancellable_cancel)                     \
    FUNCTION(g_cancellable_new)                        \
    FUNCTION(g_checksum_free)                          \
    FUNCTION(g_checksum_get_digest)                    \
    FUNCTION(g_checksum_new)                           \
    FUNCTION(g_checksum_update)                        \
    FUNCTION(g_dbus_connection_call)                   \
    FUNCTION(g_dbus_connection_call_finish)            \
    FUNCTION(g_dbus_connection_close)                  \
    FUNCTION(g_dbus_connection_is_closed)              \
    FUNCTION(g_dbus_connection_new_for_address)        \
    FUNCTION(g_dbus_connection_new_for_address_finish) \
    FUNCTION(g_dbus_connection_signal_subscribe)       \
    FUNCTION(g_dbus_connection_signal_unsubscribe)     \
    FUNCTION(g_dbus_error_get_remote_error)            \
    FUNCTION(g_dbus_error_strip_remote_error)          \
    FUNCTION(g_error_free)                             \
    FUNCTION(g_free)                                   \
    FUNCTION(g_idle_source_new)                        \
    FUNCTION(g_main_context_new)                       \
    FUNCTION(g_main_context_push_thread_default)       \
    FUNCTION(g_main_loop_get_context)                  \
    FUNCTION(g_main_loop_new)                          \
    FUNCTION(g_main_loop_run)                          \
    FUNCTION(g_object_unref)                           \
    FUNCTION(g_quark_to_string)                        \
    FUNCTION(g_signal_connect_data)                    \
    FUNCTION(g_source_attach)                          \
    FUNCTION(g_source_set_callback)                    \
    FUNCTION(g_source_set_priority)                    \
    FUNCTION(g_source_unref)                           \
    FUNCTION(g_thread_new)                             \
    FUNCTION(g_thread_unref)                           \
    FUNCTION(g_timeout_source_new)                     \
    FUNCTION(g_variant_get_boolean)                    \
    FUNCTION(g_variant_get_child_value)                \
    FUNCTION(g_variant_get_fixed_array)                \
    FUNCTION(g_variant_get_string)                     \
    FUNCTION(g_variant_get_type_string)                \
    FUNCTION(g_variant_get_uint32)                     \
    FUNCTION(g_variant_get_uint64)                     \
    FUNCTION(g_variant_get_variant)                    \
    FUNCTION(g_variant_is_object_path)                 \
    FUNCTION(g_variant_n_children)                     \
    FUNCTION(g_variant_new_array)                      \
    FUNCTION(g_variant_new_boolean)                    \
    FUNCTION(g_variant_new_dict_entry)                 \
    FUNCTION(g_variant_new_fixed_array)                \
    FUNCTION(g_variant_new_object_path)                \
    FUNCTION(g_variant_new_string)                     \
    FUNCTION(g_variant_new_tuple)                      \
    FUNCTION(g_variant_new_uint32)                     \
    FUNCTION(g_variant_new_variant)                    \
    FUNCTION(g_variant_ref)                            \
    FUNCTION(g_variant_take_ref)                       \
    FUNCTION(g_variant_type_free)                      \
    FUNCTION(g_variant_type_new)                       \
    FUNCTION(g_variant_unref)

#define KEYCHAIN_FUNCTION_MEMBER(name) __typeof__(name) *name;

/// Pointers to GLib's functions.
typedef struct {
    KEYCHAIN_GLIB_FUNCTIONS(KEYCHAIN_FUNCTION_MEMBER)
} KeychainGLib;

/// Loads libsecret, and GLib with it, at the first call; safe on any thread, and the libraries stay.
///
/// The functions, or NULL if a library or one of its functions is missing.
const KeychainGLib *keychain_glib(void);

/// Why keychain_glib() gave NULL, as the dynamic linker says it.
const char *keychain_glib_failure(void);

#endif
