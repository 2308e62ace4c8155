#!/bin/sh
# Makes the Python environment of the peer programs of one framework, with the same wheel as deps/frameworks.lock.
#   bench/peers/setup.sh [FOLDER [pytorch|tensorflow|mxnet|mlx]]    default: the project's cache folder, peers/; pytorch
# pytorch: torchvision, transformers, effdet, Pillow, pycocotools, fairseq's Python files and what these import (its
# package would pin a hydra-core older than Python 3.11); about 4 GB, since Python's torch does not import without its CUDA libraries.
# mlx: with OpenBLAS in the place of the reference BLAS of its wheel, as cmake/FindTbdMlx.cmake puts it there.
# mxnet: with the last NumPy that it runs with. Wheels that lie in the folder TBD_WHEELS are not downloaded again.
set -eu
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/tbd/peers} framework=${2:-pytorch}
lock=$(dirname "$0")/../../deps/frameworks.lock
version=$(sed -n "s/^\[$framework-\(.*\)\]/\1/p" "$lock" | head -n 1)
[ -n "$version" ] || { echo "peers: unknown framework $framework" >&2; exit 2; }
case $framework in
  pytorch)
    packages="torch==$version torchvision pillow numpy transformers==5.23.0 safetensors pycocotools==2.0.11"
    packages="$packages hydra-core==1.3.2 omegaconf==2.3.0 bitarray sacrebleu==2.6.0 torchmetrics==1.9.0 effdet==0.4.1 timm==1.0.31" ;;
  tensorflow) packages="tensorflow-cpu==$version" ;;
  mxnet) packages="mxnet==$version numpy==1.23.5" ;;
  mlx) packages="mlx==$version mlx-cpu==$version scipy==$(sed -n 's/^scipy \([^ ]*\) .*/\1/p' "$lock")" ;;
esac
echo "peers: $packages into $folder" >&2
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet ${TBD_WHEELS:+--find-links "$TBD_WHEELS"} $packages

if [ "$framework" = pytorch ]; then
  sources=$(mktemp -d)
  trap 'rm -rf "$sources"' EXIT
  "$folder/bin/python" -m pip download --quiet --no-deps --no-binary fairseq --dest "$sources" fairseq==0.12.2
  tar -xzf "$sources/fairseq-0.12.2.tar.gz" -C "$sources"
  cp -R "$sources/fairseq-0.12.2/fairseq" "$("$folder/bin/python" -c 'import site; print(site.getsitepackages()[0])')"
fi
if [ "$framework" = mlx ]; then
  cd "$("$folder/bin/python" -c 'import site; print(site.getsitepackages()[0])')/mlx_cpu.libs"
  for library in libblas-* liblapack-*; do ln -sf ../scipy.libs/libopenblasp-*.so "$library"; done
  ln -sf ../scipy.libs/libgfortran-* ../scipy.libs/libquadmath-* .
fi
