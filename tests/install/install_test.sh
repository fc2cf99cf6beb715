#!/bin/sh
# The installed tree is complete and relocatable: it is installed, moved, and used by a client
# project through find_package and through pkg-config.
# usage: install_test.sh CMAKE BUILD_DIR
set -eu
cmake=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"

"$cmake" -S "$here/client" -B "$work/client" "-DCMAKE_PREFIX_PATH=$work/moved" \
  "-DEXAMPLES=$work/moved/share/doc/crocprof/examples" >"$work/client.log" ||
  { cat "$work/client.log"; exit 1; }
"$cmake" --build "$work/client" >"$work/client.log" || { cat "$work/client.log"; exit 1; }
"$work/client/client"
"$work/client/runtime"

# The profiler finds its libraries beside itself, and knows the machine's counters.
if [ -x "$work/moved/bin/crocprof" ]; then
  "$work/moved/bin/crocprof" --version
  "$work/moved/bin/crocprof" list >"$work/list" 2>&1 || { cat "$work/list"; exit 1; }
  grep -q SQ_WAVES "$work/list" || { cat "$work/list"; exit 1; }
  "$work/moved/bin/rocprofv3-avail" list >"$work/list" 2>&1 || { cat "$work/list"; exit 1; }
  grep -q SQ_WAVES "$work/list" || { cat "$work/list"; exit 1; }
  "$work/moved/bin/rocpd" --help >/dev/null
  # Where ROCm 7.1 has the module and its library, and where 7.0 does.
  for module in lib/python3/site-packages/rocprofv3 bin/rocprofv3_avail_module; do
    "$work/moved/bin/crocgpu" python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
import avail
(counters,) = avail.get_counters().values()
assert "SQ_WAVES" in [one.name for one in counters]' "$work/moved/$module"
  done
  [ -f "$work/moved/libexec/rocprofiler-sdk/librocprofv3-list-avail.so" ]
  [ -x "$work/moved/share/rocprofiler-sdk/convert-counters-collection-format.py" ]
fi

# The module of Python programs finds its library beside itself.
PYTHONPATH="$work/moved/lib/python3/site-packages" python3 -c 'import roctx
assert roctx.rangePush("a range") == 0 and roctx.rangePop() == 0'

# A program without HIP: the tool is loaded, and has nothing to say.
for tool in call_times call_times_cpp; do
  LD_PRELOAD="$work/client/lib$tool.so" "$work/client/client" 2>"$work/$tool.log"
  [ "$(wc -l <"$work/$tool.log")" = 1 ] || { cat "$work/$tool.log"; exit 1; }
done

# ROCtracer's tool finds its libraries and its plugin beside itself.
"$work/client/markers"
tool=$work/moved/lib/roctracer/libroctracer_tool.so
if [ -f "$tool" ]; then
  mkdir "$work/traces"
  ROCTRACER_DOMAIN=roctx ROCP_OUTPUT_DIR="$work/traces" LD_PRELOAD="$tool" "$work/client/markers"
  grep -q ':"installed"$' "$work"/traces/*_roctx_trace.txt
fi

flags=$(PKG_CONFIG_PATH=$work/moved/lib/pkgconfig pkg-config --cflags --libs rocprofiler-sdk)
# shellcheck disable=SC2086 # the flags are words
cc -std=c11 "$here/client/client.c" $flags -Wl,-rpath,"$work/moved/lib" -o "$work/client-pc"
"$work/client-pc"

if grep -rl "$work/first" "$work/moved" >"$work/paths"; then
  echo "files that name the place of installation:"
  cat "$work/paths"
  exit 1
fi
