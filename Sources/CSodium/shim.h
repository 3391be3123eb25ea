// SPDX-License-Identifier: MIT
// The whole of libsodium, as its own umbrella header declares it.
#include <sodium.h>
