/*
 * cuda/driver.h - the CUDA driver's functions as a table, filled at run time.
 *
 * The driver's binary interface is stable, so the few types and constants that the library uses are
 * declared here, and the library builds without any CUDA header. The library that fills the table
 * provides the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DRIVER_H
#define ECHI_CUDA_DRIVER_H

#include "core/internal.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;

typedef struct CUmemPoolProps {
    int allocation_type, handle_types;
    int location_type, location_id;
    void *security_attributes;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

typedef struct CUmemAccessDesc {
    int location_type, location_id;
    int flags;
} CUmemAccessDesc;

typedef struct CUlaunchAttribute {
    int id;
    int padding;
    union {
        char bytes[64];
        unsigned cluster[3];
        int cooperative;
        int early; /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */
    } value;
} CUlaunchAttribute;

/* Attributes of copies in a batch. */
typedef struct CUmemcpyAttributes {
    int access_order;
    int source_type, source_id, target_type, target_id; /* hints for managed memory */
    unsigned flags;
} CUmemcpyAttributes;

typedef struct CUlaunchConfig {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    CUstream stream;
    CUlaunchAttribute *attributes;
    unsigned attribute_count;
} CUlaunchConfig;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
    ECHI_BATCH_VERSION = 12080, /* of the signature of cuMemcpyBatchAsync() */
    ECHI_DRIVER_VERSION =
        12000 /* version of the signatures in driver.def, and the oldest supported driver */
};

struct echi_driver {
#define DRIVER(name, parameters) CUresult(*name) parameters;
#include "cuda/driver.def"
#undef DRIVER
    /* Many copies in one call, each of which then takes less time; NULL: the driver is older. */
    CUresult (*cuMemcpyBatchAsync)(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                                   CUmemcpyAttributes *attributes, size_t *first,
                                   size_t attribute_count, size_t *failed, CUstream stream);
    int version; /* 13000 for 13.0 */
    int devices; /* at least 1 */
};

struct echi_driver_failure {
    ech_status status; /* ECH_ERR_NO_DEVICE, or ECH_ERR_MEMORY */
    char reason[ECHI_ERROR_BYTES];
};

/* A library that fills the table. */
struct echi_driver_file {
    const char *called;   /* its name in messages: "the CUDA driver" */
    const char *library;  /* its file name */
    const char *variable; /* the environment variable that names another file */
    bool opened;          /* the fields below are final */
    struct echi_driver driver;
    struct echi_driver_failure failure; /* its reason is "" if the table is usable */
};

extern struct echi_driver_file echi_libcuda, echi_libsimt;

/* The table, opened at the first call in the process. NULL if there is no usable driver or no GPU;
 * *failure, which may be NULL, then describes the cause. A library that cannot be opened is tried
 * again at the next call, as memory may have been missing. */
const struct echi_driver *echi_driver(struct echi_driver_file *file,
                                      struct echi_driver_failure *failure);

#endif
