// SPDX-License-Identifier: MIT

#include "CProcess.h"

#include <sys/prctl.h>

static char **arguments;

// glibc hands the arguments of main to constructors.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    (void)count;
    arguments = values;
}

int keychain_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

char **keychain_arguments(void) { return arguments; }
