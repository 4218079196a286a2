/*
 * comm/mpi/abi/mpi.h - the parts of the standard binary interface of MPI (MPI 5.0, chapter 20) that
 * comm/mpi/mpi.c uses, from mpi.h of https://github.com/mpi-forum/mpi-abi-stubs, version 1.0.0.
 *
 * The functions are pointers, because the MPI library is opened at run time (comm/mpi/abi/open.c).
 *
 * Copyright (c) 2024 NVIDIA
 * Copyright (c) 2026 KAUST
 * SPDX-License-Identifier: MIT
 */
#ifndef ECHELON_COMM_MPI_ABI_MPI_H
#define ECHELON_COMM_MPI_ABI_MPI_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Datatype *MPI_Datatype;

#define MPI_COMM_WORLD      ((MPI_Comm)0x00000101)
#define MPI_ERRORS_RETURN   ((MPI_Errhandler)0x00000143)
#define MPI_REQUEST_NULL    ((MPI_Request)0x00000180)
#define MPI_CHAR            ((MPI_Datatype)0x00000243)
#define MPI_BYTE            ((MPI_Datatype)0x00000247)
#define MPI_STATUS_IGNORE   ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

enum {
    MPI_SUCCESS = 0,
    MPI_ANY_SOURCE = -1,
    MPI_MAX_ERROR_STRING = 512,
    MPI_THREAD_SERIALIZED = 2048
};

/* NAME(function, parameters) */
#define ECHI_MPI_FUNCTIONS(NAME)                                                                   \
    NAME(Abi_get_version, (int *abi_major, int *abi_minor))                                        \
    NAME(Cancel, (MPI_Request * request))                                                          \
    NAME(Comm_dup, (MPI_Comm comm, MPI_Comm * newcomm))                                            \
    NAME(Comm_free, (MPI_Comm * comm))                                                             \
    NAME(Comm_rank, (MPI_Comm comm, int *rank))                                                    \
    NAME(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))                          \
    NAME(Comm_size, (MPI_Comm comm, int *size))                                                    \
    NAME(Error_string, (int errorcode, char *string, int *resultlen))                              \
    NAME(Finalize, (void))                                                                         \
    NAME(Finalized, (int *flag))                                                                   \
    NAME(Iallgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,    \
                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))  \
    NAME(Init_thread, (int *argc, char ***argv, int required, int *provided))                      \
    NAME(Initialized, (int *flag))                                                                 \
    NAME(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))              \
    NAME(Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,  \
                 MPI_Request *request))                                                            \
    NAME(Isend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,             \
                 MPI_Comm comm, MPI_Request *request))                                             \
    NAME(Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,   \
                MPI_Status *status))                                                               \
    NAME(Request_free, (MPI_Request * request))                                                    \
    NAME(Testall,                                                                                  \
         (int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses))

struct echi_mpi {
#define ECHI_MPI_MEMBER(name, parameters) int(*name) parameters;
    ECHI_MPI_FUNCTIONS(ECHI_MPI_MEMBER)
#undef ECHI_MPI_MEMBER
};
extern struct echi_mpi echi_mpi;

#define MPI_Cancel              echi_mpi.Cancel
#define MPI_Comm_dup            echi_mpi.Comm_dup
#define MPI_Comm_free           echi_mpi.Comm_free
#define MPI_Comm_rank           echi_mpi.Comm_rank
#define MPI_Comm_set_errhandler echi_mpi.Comm_set_errhandler
#define MPI_Comm_size           echi_mpi.Comm_size
#define MPI_Error_string        echi_mpi.Error_string
#define MPI_Finalize            echi_mpi.Finalize
#define MPI_Finalized           echi_mpi.Finalized
#define MPI_Iallgather          echi_mpi.Iallgather
#define MPI_Init_thread         echi_mpi.Init_thread
#define MPI_Initialized         echi_mpi.Initialized
#define MPI_Iprobe              echi_mpi.Iprobe
#define MPI_Irecv               echi_mpi.Irecv
#define MPI_Isend               echi_mpi.Isend
#define MPI_Recv                echi_mpi.Recv
#define MPI_Request_free        echi_mpi.Request_free
#define MPI_Testall             echi_mpi.Testall

/* Opens the MPI library; false with a message if there is none. mpi.c calls it before MPI. */
bool echi_mpi_open(char *message, size_t message_bytes);
#define ECHI_MPI_OPEN echi_mpi_open

#endif /* ECHELON_COMM_MPI_ABI_MPI_H */
