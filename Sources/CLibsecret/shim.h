// SPDX-License-Identifier: MIT
// libsecret with its unstable calls: encoding and decoding a secret for a message that we send ourselves is among them.
#define SECRET_API_SUBJECT_TO_CHANGE
#include <gio/gio.h>
#include <libsecret/secret.h>
