# What GPUs need besides: libraries of CUDA, in sections NAME-VERSION-cuda of the lock file, unpacked beside the
# framework's section, where its worker looks for them. They are fetched where the driver answers, has a GPU and serves
# their version of CUDA. Without them, whatever the reason, training goes on the CPU; the reason is said.
#   $gpu_wanted: sections that are to come; $gpu_download $gpu_disk: their bytes beside all else
#   $gpu_known: empty where another look may find more; $gpu_waits: set where Python has to be there first

gpu_wanted= gpu_download=0 gpu_disk=0 gpu_known= gpu_waits=

# The kernel's word on the driver: while it stays the same, nothing has to be looked for again (./tbd).
gpu_driver=/proc/driver/nvidia/version

# The value of the line WORD of a section of the lock file.
note_of_section() {
  awk -v section="[$1]" -v word="$2" '/^\[/ {here = $1 == section} here && $1 == word {sub(/^[^ ]* /, ""); print}' \
    "$here/deps/frameworks.lock"
}

# look_for_gpus: before anything is said or fetched. Python may be missing on a bare machine; then it is called again.
look_for_gpus() {
  gpu_known=1 gpu_waits=
  [ "$device" != cpu ] || return 0
  gpu_sections=$(for section in $sections; do sed -n "s/^\[\($section-cuda\)\]/\1/p" "$here/deps/frameworks.lock"; done)
  [ -n "$gpu_sections" ] || return 0
  if ! command -v python3 >/dev/null; then
    gpu_known= gpu_waits=1
    return
  fi
  found=$(python3 "$here/tools/gpu_probe.py") || found=
  case $found in
    '') return ;;
    silent\ *)
      say "an NVIDIA driver is here but does not answer (${found#silent }): training goes on the CPU; ./tbd doctor says more"
      return ;;
  esac
  set -- ${found%%
*}
  driver=$2 driver_cuda=$3 gpus=$(printf '%s\n' "$found" | sed -n 's/^gpu //p' | sort | uniq -c | awk '{n = $1; $1 = ""; print sep n " x" $0; sep = ", "}' ORS='')
  if [ -z "$gpus" ]; then
    say "the NVIDIA driver $driver shows no GPU: training goes on the CPU"
    return
  fi
  capabilities=$(printf '%s\n' "$found" | sed -n 's/^capability //p' | sort -uV)
  say "GPUs: $gpus; driver $driver, CUDA $driver_cuda"
  for section in $gpu_sections; do look_at_section "$section"; done
  [ -z "$gpu_wanted" ] || plan_gpus
}

in_order() { printf '%s\n' "$@" | sort -VC; }  # of versions

# fits_a_gpu FIRST LAST: code for these and all compute capabilities between.
fits_a_gpu() {
  for capability in $capabilities; do
    if in_order "$1" "$capability" "$2"; then return 0; fi
  done
  return 1
}

look_at_section() {
  absent=$(note_of_section "$1" absent) needed=$(note_of_section "$1" cuda) fitting=$(note_of_section "$1" capability)
  if [ -n "$absent" ]; then
    say "${1%-cuda} trains on the CPU alone: $absent"
  elif [ -n "$fitting" ] && ! fits_a_gpu $fitting; then
    say "${1%-cuda} trains on the CPU alone: its code is for compute capability ${fitting% *} to ${fitting#* }, the GPUs have $(echo ${capabilities:-another})"
  elif ! in_order "$needed" "$driver_cuda"; then
    say "${1%-cuda} trains on the CPU alone: the driver $driver serves CUDA $driver_cuda, its libraries need $needed or newer"
  else
    gpu_wanted="$gpu_wanted $1"
  fi
}

# Of $gpu_wanted those that are to be fetched or unpacked, where disk and network allow it. A wheel that the framework's
# own section needs as well is counted once.
plan_gpus() {
  for_both=$(python3 "$here/tools/fetch.py" plan $sections $gpu_wanted --cache "$cache") || exit 3
  alone=$(python3 "$here/tools/fetch.py" plan $gpu_wanted --cache "$cache") || exit 3
  set -- $alone
  shift 2
  gpu_wanted=$*
  [ -n "$gpu_wanted" ] || return 0
  set -- $for_both
  gpu_download=$(($1 - wheel_download)) gpu_disk=$(($2 - wheel_disk))
  free=$(($(df -Pk "$cache" | awk 'NR == 2 {print $4}') * 1024))
  if [ -n "$offline" ] && [ "$gpu_download" -gt 0 ]; then
    leave_gpus "--offline forbids to download $(megabytes $gpu_download) MB"
  elif [ $((gpu_disk + wheel_disk)) -gt "$free" ]; then
    leave_gpus "$cache has $(megabytes "$free") MB free, $(megabytes $((gpu_disk + wheel_disk))) MB are needed"
  else
    say "libraries for them: $gpu_wanted ($(megabytes $gpu_download) MB to download, $(megabytes $gpu_disk) MB of disk; --device cpu leaves them out)"
  fi
}

leave_gpus() {
  say "the libraries for GPUs are left out: $1; training goes on the CPU"
  gpu_wanted= gpu_download=0 gpu_disk=0 gpu_known=
}

# await_gpu_section SECTION: where it is coming. A worker is built after it: one framework has a library of its own there.
await_gpu_section() {
  is_coming "$1" || return 0
  await_section "$1"
  [ -n "$reason" ] || return 0
  say "$1 is left out: $reason; ${1%-cuda} trains on the CPU"
  gpu_known= gpu_wanted=$(for each in $gpu_wanted; do [ "$each" = "$1" ] || echo "$each"; done)
}

await_gpus() {
  for gpu_section in $gpu_wanted; do await_gpu_section "$gpu_section"; done
}

# stamp_gpus KEY: its next command need not look again, until the driver is another.
stamp_gpus() {
  if [ -n "$gpu_known" ] && [ "$device" != cpu ] && [ -r "$gpu_driver" ]; then
    cat "$gpu_driver" >"$build/ready/$1/.driver"
  fi
}
