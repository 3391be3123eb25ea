// SPDX-License-Identifier: MIT
#ifdef KEYCHAIN_SECRET_SERVICE

#include "libsecret-functions.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

KeychainSessionFunctions keychain_session_functions;

static KeychainGLib glib;
static int is_complete;
static char failure[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int find(void *library, const char *name, void *function) {
    // dlsym(3): a function pointer is stored through an object pointer.
    *(void **)function = dlsym(library, name);
    if (*(void **)function) { return 1; }
    snprintf(failure, sizeof failure, "libsecret-1.so.0 has no %s", name);
    return 0;
}

static void load(void) {
    void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "libsecret-1.so.0");
        return;
    }
    int found = 1;
    // The search goes on in the libraries that libsecret itself needs.
#define FIND(name) found = found && find(library, #name, &glib.name);
    KEYCHAIN_GLIB_FUNCTIONS(FIND)
#undef FIND
#define FIND(name) found = found && find(library, #name, &keychain_session_functions.name);
    KEYCHAIN_SESSION_FUNCTIONS(FIND)
#undef FIND
    is_complete = found;
}

const KeychainGLib *keychain_glib(void) {
    pthread_once(&once, load);
    return is_complete ? &glib : NULL;
}

const char *keychain_glib_failure(void) {
    return failure;
}

#endif
