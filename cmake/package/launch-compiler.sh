#!/bin/bash
# rocprofiler-sdk-launch-compiler WANTED EXPECTED COMMAND...: runs COMMAND with the compiler WANTED
# wherever it names the compiler EXPECTED. CMake puts it before what it compiles and links with
# (RULE_LAUNCH_COMPILE, RULE_LAUNCH_LINK), so it sees archivers and linters as well: those stay.
# ROCPROFILER_SDK_LAUNCH_COMPILER_DEBUG=1 shows the command.
if [ $# -lt 2 ]; then
    echo "usage: ${0##*/} WANTED EXPECTED COMMAND...; CMake runs it, in a rule of its own" >&2
    exit 1
fi
wanted=$1 expected=$2
shift 2
[ $# -gt 0 ] || exit 0

# The command itself, or what CMake runs beside its linters: cmake -E __run_co_compile ... -- command
position=0
if [ "$1" != "$expected" ] && [ "$2 $3" = "-E __run_co_compile" ]; then
    for word in "$@"; do
        position=$((position + 1))
        [ "$word" = -- ] && break
    done
fi
command=("$@")
if [ "${command[position]}" = "$expected" ]; then
    if [ ! -x "$wanted" ]; then
        echo "${0##*/}: there is no compiler $wanted" >&2
        exit 1
    fi
    command[position]=$wanted
    case ${wanted##*/} in # AMD's compilers link code for GPUs that lies beside them
    amdclang* | amdllvm*)
        folder=$(cd "$(dirname "$(realpath "$wanted")")/../lib" && pwd) &&
            export LIBRARY_PATH=$folder${LIBRARY_PATH:+:$LIBRARY_PATH}
        ;;
    esac
fi
[ "${ROCPROFILER_SDK_LAUNCH_COMPILER_DEBUG:-0}" = 0 ] || echo "${0##*/}: ${command[*]}" >&2
exec "${command[@]}"
