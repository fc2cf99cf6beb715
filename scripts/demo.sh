#!/usr/bin/env bash
# make demo: real HIP programs under Debian's runtime, profiled; on the software GPU if the machine
# has no other.
set -eu
dir=$1
counters=SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_LDS,TCC_HIT,TCC_MISS
output=$dir/demo
for program in vector_add transpose reduction gemm; do
    echo
    echo "\$ crocprof -e $counters -d $output ./$program"
    "$dir/bin/crocprof" -e "$counters" -d "$output" "$dir/examples/$program"
done
echo
echo "CSV files and rocpd databases: $output"
