// SPDX-License-Identifier: MIT

#ifndef SWIFT_KEYCHAIN_CPROCESS_H
#define SWIFT_KEYCHAIN_CPROCESS_H

/// Keeps the process from being dumped or traced; prctl(2) takes a variable number of arguments, which Swift cannot pass.
int keychain_set_undumpable(void);

/// The arguments of the process, ended by a null pointer, the name of the program first.
///
/// Swift reads them from /proc, and finds none where that is not mounted, as in a bare chroot.
char **keychain_arguments(void);

#endif
