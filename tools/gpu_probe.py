#!/usr/bin/env python3
"""What the NVIDIA driver of this machine says of its GPUs, by its library NVML; for the set-up.

Prints nothing where there is no driver's library; else one of
  silent REASON                  there is one, but it does not answer
  driver VERSION CUDA            its version, and the newest CUDA that it serves ("580.65.06 13.0")
and after that line, for each GPU,
  gpu NAME
  capability 8.6                 its compute capability, where the driver says it
"""
import contextlib
import ctypes

LIBRARY = "libnvidia-ml.so.1"
TEXT_BYTES = 96  # NVML: a device's name, the longest of its texts that are read here


class Silent(Exception):
    """One clause: why the driver says nothing."""


def call(nvml, name, *arguments):
    try:
        function = getattr(nvml, name)
    except AttributeError:
        raise Silent(f"it has no function {name}") from None
    code = function(*arguments)
    if code == 0:
        return
    try:
        nvml.nvmlErrorString.restype = ctypes.c_char_p
        text = nvml.nvmlErrorString(code)
    except AttributeError:
        text = None
    raise Silent(f"{name}: {text.decode() if text else f'error {code}'}")


def text_of(nvml, name, *arguments):
    buffer = ctypes.create_string_buffer(TEXT_BYTES)
    call(nvml, name, *arguments, buffer, ctypes.c_uint(TEXT_BYTES))
    return buffer.value.decode(errors="replace")


def number_of(nvml, name):
    number = ctypes.c_uint()
    call(nvml, name, ctypes.byref(number))
    return number.value


def capability_of(nvml, device):
    major, minor = ctypes.c_int(), ctypes.c_int()
    call(nvml, "nvmlDeviceGetCudaComputeCapability", device, ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def lines(nvml):
    call(nvml, "nvmlInit_v2")
    cuda = number_of(nvml, "nvmlSystemGetCudaDriverVersion_v2")  # 1000 * major + 10 * minor
    yield f"driver {text_of(nvml, 'nvmlSystemGetDriverVersion')} {cuda // 1000}.{cuda % 1000 // 10}"
    for index in range(number_of(nvml, "nvmlDeviceGetCount_v2")):
        device = ctypes.c_void_p()
        call(nvml, "nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(device))
        yield f"gpu {text_of(nvml, 'nvmlDeviceGetName', device)}"
        with contextlib.suppress(Silent):
            yield f"capability {capability_of(nvml, device)}"


def main():
    try:
        nvml = ctypes.CDLL(LIBRARY)
    except OSError:
        return
    try:
        answer = list(lines(nvml))
    except Silent as reason:
        answer = [f"silent {reason}"]
    print("\n".join(answer))


if __name__ == "__main__":
    main()
