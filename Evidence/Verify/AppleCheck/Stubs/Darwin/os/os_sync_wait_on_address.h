// What the sources use of this header, which the fetched ones lack (developer.apple.com/documentation/os/synchronization).
#ifndef __OS_SYNC_WAIT_ON_ADDRESS__
#define __OS_SYNC_WAIT_ON_ADDRESS__

#include <Availability.h>
#include <os/base.h>
#include <os/clock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OS_SYNC_SINCE __API_AVAILABLE(macos(14.4), ios(17.4), tvos(17.4), watchos(10.4), visionos(1.1))

OS_OPTIONS(os_sync_wait_on_address_flags, uint32_t, OS_SYNC_WAIT_ON_ADDRESS_NONE = 0x00000000, OS_SYNC_WAIT_ON_ADDRESS_SHARED = 0x00000001);
OS_OPTIONS(os_sync_wake_by_address_flags, uint32_t, OS_SYNC_WAKE_BY_ADDRESS_NONE = 0x00000000, OS_SYNC_WAKE_BY_ADDRESS_SHARED = 0x00000001);

OS_SYNC_SINCE int os_sync_wait_on_address(void *addr, uint64_t value, size_t size, os_sync_wait_on_address_flags_t flags);
OS_SYNC_SINCE int os_sync_wait_on_address_with_timeout(
    void *addr, uint64_t value, size_t size, os_sync_wait_on_address_flags_t flags, os_clockid_t clockid, uint64_t timeout_ns
);
OS_SYNC_SINCE int os_sync_wake_by_address_any(void *addr, size_t size, os_sync_wake_by_address_flags_t flags);
OS_SYNC_SINCE int os_sync_wake_by_address_all(void *addr, size_t size, os_sync_wake_by_address_flags_t flags);

#endif
