// SPDX-License-Identifier: MIT

#ifndef SWIFT_KEYCHAIN_CPROCESS_H
#define SWIFT_KEYCHAIN_CPROCESS_H

#include <sys/prctl.h>

/// Keeps the process from being dumped or traced; prctl(2) takes a variable number of arguments, which Swift cannot pass.
static inline int keychain_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

#endif
