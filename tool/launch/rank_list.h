/*
 * Variables in which a process of a job finds its rank, and how many there are; 0: no variable says
 * that. The first that is there counts: launchers of MPI come before batch systems, whose variables
 * are those of whatever started the launcher.
 */
#ifndef LAUNCH_RANK_LIST_H
#define LAUNCH_RANK_LIST_H

#define RANK_VARIABLES(X)                                                                          \
    X("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE") /* Open MPI */                               \
    X("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE")   /* MVAPICH2 */                               \
    X("MPIRUN_RANK", "MPIRUN_NPROCS")                 /* MVAPICH */                                \
    X("PMI_RANK", "PMI_SIZE")                         /* Hydra: MPICH, Intel MPI; Cray's PMI */    \
    X("MPI_RANKID", "MPI_NRANKS")                     /* Platform MPI */                           \
    X("MPI_LOCALRANKID", "MPI_LOCALNRANKS")           /* Hydra, on one node */                     \
    X("MPI_RANK", "MPI_SIZE")                                                                      \
    X("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE") /* IBM's jsrun */                                \
    X("FLUX_TASK_RANK", "FLUX_JOB_SIZE")          /* Flux */                                       \
    X("PALS_RANKID", 0)                           /* Cray's PALS */                                \
    X("ALPS_APP_PE", 0)                           /* Cray's aprun */                               \
    X("PMIX_RANK", 0)                             /* whoever starts by PMIx */                     \
    X("SLURM_PROCID", "SLURM_NTASKS")                                                              \
    X("PBS_VNODENUM", "PBS_NP") /* Torque's pbsdsh */                                              \
    X("PBS_NODENUM", "PBS_O_TASKNUM")

#endif
