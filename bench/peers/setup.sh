#!/bin/sh
# Makes the Python environment of the peer programs: the same torch wheel as deps/frameworks.lock, torchvision and
# Pillow beside it. About 4 GB are downloaded, since Python's torch does not import without its CUDA libraries.
#   bench/peers/setup.sh [FOLDER]        default: the project's cache folder, peers/
# Wheels that lie in the folder TBD_WHEELS are not downloaded again.
set -eu
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/tbd/peers}
lock=$(dirname "$0")/../../deps/frameworks.lock
version=$(awk '/^\[pytorch-/ { inside = !done; done = 1 } inside && $1 == "torch" { print $2; exit }' "$lock")
python=${PYTHON:-python3}
echo "peers: torch $version and torchvision into $folder (about 4 GB)" >&2
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet ${TBD_WHEELS:+--find-links "$TBD_WHEELS"} \
  "torch==$version" torchvision pillow numpy
"$folder/bin/python" -c 'import torch, torchvision; print("torch", torch.__version__, "torchvision", torchvision.__version__)'
