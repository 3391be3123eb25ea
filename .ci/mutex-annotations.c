// SPDX-License-Identifier: MIT
//
// Lets the thread sanitizer see the contended path of Synchronization.Mutex.
//
// The uncontended path is inlined, atomics that the sanitizer follows. The contended one runs in a library that is not
// instrumented, on a futex that the kernel hands over (FUTEX_LOCK_PI), so the sanitizer misses that one thread waited
// for the other, and reports a race in any program. Preloaded, this tells it. The lock itself stays the toolchain's.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Weak: the build tools that run the tests are not instrumented and load this too.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock_slow(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *handle) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF void *handle) {
    SWIFT void (*lock)(uint32_t, SELF void *) = dlsym(RTLD_NEXT, LOCK);
    lock(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock_slow(SELF void *handle) {
    SWIFT void (*unlock)(SELF void *) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(handle);
    unlock(handle);
}
