#!/bin/sh
# What only a machine with an NVIDIA GPU can show, in one run of ten minutes (docs/gpu.md).
#   tools/gpu_acceptance.sh --pack DIR                 makes the folder that is carried there; needs no GPU
#   DIR/gpu_acceptance.sh --run DIR --torch PATH [--only PART,…] [--out OUT] [--seconds N] [--device cuda:0]
# PATH: the folder torch/ of an installed PyTorch of the version that was packed. The machine needs Python 3.8 and the
# driver, nothing else. OUT (DIR/out) gets acceptance.json and acceptance.md; parts that are done there are not repeated.
set -eu
tools=$(cd -- "$(dirname -- "$0")" && pwd)
version=2.11.0
most_megabytes=60

fail() { echo "gpu_acceptance: error: $*" >&2; exit 3; }

pack() {
  here=$(dirname -- "$tools") pack=$1 build=$(dirname -- "$tools")/build/acceptance
  sh "$here/tools/setup.sh" --frameworks "pytorch@$version" --device cpu --yes || exit
  root=${XDG_CACHE_HOME:-$HOME/.cache}/tbd/frameworks/pytorch-$version
  mkdir -p "$here/build"
  cmake --preset dev -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release -DTBD_UNITY=ON -DTBD_JOIN_TESTS=ON -DTBD_BENCH=ON \
    -DTBD_WERROR=OFF "-DTBD_TORCH_ROOT=$root" >"$build.log" 2>&1 || fail "configuring failed; see $build.log"
  programs="tbd tbd-worker-pytorch conformance_test test_pytorch bench_pytorch_model"
  cmake --build "$build" -j "$(nproc)" --target $programs >>"$build.log" 2>&1 || fail "building failed; see $build.log"
  mkdir -p "$pack/bin" "$pack/lib" "$pack/libc"
  for program in $programs; do
    found=$(find "$build" -maxdepth 2 -type f -name "$program" -perm -u+x | head -n 1)
    strip --strip-unneeded -o "$pack/bin/$program" "$found"
    # Framework's libraries are the target's; the C library's go apart, for a target whose own are older.
    ldd "$found" | awk '$2 == "=>" && $3 ~ "^/" {print $3} $1 ~ "^/" {print $1}' | while read -r library; do
      case $library in
        "$root"/*) ;;
        */ld-linux* | */libc.so* | */libm.so* | */libmvec.so* | */libpthread.so* | */libdl.so* | */librt.so* | */libutil.so* | */libresolv.so*)
          cp -Lu "$library" "$pack/libc/" ;;
        *) cp -Lu "$library" "$pack/lib/" ;;
      esac
    done
  done
  cp "$tools/gpu_acceptance.sh" "$tools/gpu_acceptance.py" "$here"/bench/interleave.py "$here"/bench/peers/plain.py \
    "$here"/bench/peers/peer.py "$pack/"
  chmod +x "$pack/gpu_acceptance.sh"
  commit=$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)
  libc=$(ldd --version | awk 'NR == 1 {print $NF}')
  printf '{"torch": "%s", "commit": "%s", "libc": "%s"}\n' "$version" "$commit" "$libc" >"$pack/pack.json"
  size=$(du -sm --apparent-size "$pack" | cut -f 1)
  [ "$size" -le "$most_megabytes" ] || fail "$pack has $size MB, more than $most_megabytes"
  echo "$pack: $size MB, for torch $version"
}

case ${1-} in
  --pack) [ $# = 2 ] || fail "--pack takes a folder"; pack "$2" ;;
  --run) shift; exec python3 "$tools/gpu_acceptance.py" "$@" ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
