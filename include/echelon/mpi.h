/*
 * echelon/mpi.h - a communicator (echelon/comm.h) from an MPI communicator.
 *
 * The function is in libechelon_mpi.so.  The installed one is for MPI libraries with the standard
 * binary interface; for others, their mpicc builds it (docs/guide/distributed.md).  echelon.h does
 * not include this header.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_MPI_H
#define ECHELON_MPI_H

#include <echelon/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ech_comm_mpi() makes a communicator of the processes of an MPI communicator.
 *
 *   comm      [1] receives the communicator
 *   mpi_comm  the address of an MPI_Comm, such as &MPI_COMM_WORLD of a variable; it is duplicated
 *   options   NULL for the defaults
 *
 * The call is collective.  MPI must be initialised.  The call fails with ECH_ERR_ARG, without a
 * message, if it is not, or if a pointer is NULL.  Arrays in memory of a GPU are staged in host
 * memory.  ech_comm_close() is collective unless the communicator has failed.
 *
 * If a call exceeds the time limit, MPI may still access its arrays: the process should end.
 */
ECH_API ech_status ech_comm_mpi(ech_comm **comm, const void *mpi_comm,
                                const ech_comm_options *options);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_MPI_H */
