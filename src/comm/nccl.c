/* comm/nccl.c - placeholder */
