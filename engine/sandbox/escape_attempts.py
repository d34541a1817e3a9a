"""The attempts to escape that `grade doctor` makes inside the sandbox.

This file is never imported: it is read as text and handed in like a submission.  Each function
attempts one forbidden act; it returns if it succeeded, with a sentence where there is more to say, and
raises if it was stopped.  What would do harm is asked for in a form that meets another error where it is
permitted.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib.util
import mmap
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

# mypy: ignore-errors
# ruff: noqa: D103, E731, PTH101, PTH116, PTH118, PTH123, PTH208, PTH211


with contextlib.suppress(ImportError):  # Windows has neither
    import fcntl
    import resource
libc = ctypes.CDLL(None if os.name == "posix" else "msvcrt", use_errno=True)
if hasattr(libc, "syscall"):
    libc.syscall.restype = ctypes.c_long
# a machine that isn't listed tries numbers that no kernel knows
NUMBERS = {
    "x86_64": {
        "add_key": 248, "bpf": 321, "futex": 202, "io_uring_setup": 425, "keyctl": 250, "memfd_create": 319,
        "perf_event_open": 298, "pidfd_send_signal": 424, "userfaultfd": 323,
    },
    "aarch64": {
        "add_key": 217, "bpf": 280, "futex": 98, "io_uring_setup": 425, "keyctl": 219, "memfd_create": 279,
        "perf_event_open": 241, "pidfd_send_signal": 424, "userfaultfd": 282,
    },
}  # fmt: skip


def checked(result):
    """Raise what errno says if a C function failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def call(name, *arguments):
    """Make a system call by name."""
    number = NUMBERS.get(platform.machine(), {}).get(name, 10**6)
    return checked(
        libc.syscall(
            ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
        )
    )


def permitted(error, code):
    """Raise the error again, unless the act got past its permission check and failed as we meant it to."""
    if error.errno != code:
        raise error


# acts of a single call

change_file = lambda world: os.chmod(world["key_file"], 0o777)
signal_parent = lambda world: os.kill(os.getppid(), 0)
signal_grader = lambda world: os.kill(world["grader"], 0)
unshare_user = lambda world: checked(libc.unshare(0x10000000))
unshare_network = lambda world: checked(libc.unshare(0x40000000))
change_root = lambda world: os.chroot("/")
handle_page_faults = lambda world: call("userfaultfd", 1)
use_keyring = lambda world: call("keyctl", 0, -3, 1, 0, 0)
raise_limits = lambda world: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
stay_alive = lambda world: checked(libc.prctl(1, 0, 0, 0, 0))
raise_priority = lambda world: os.nice(1)
set_up_ring = lambda world: call("io_uring_setup", 1, ctypes.create_string_buffer(256))
read_machine = lambda world: checked(libc.sysinfo(ctypes.create_string_buffer(256)))
sleep_long = lambda world: time.sleep(1000)
list_folder = lambda world: f"listed {len(os.listdir(world['folder']))} names in the key's folder"
see_metadata = lambda world: f"saw the size of a file outside: {os.stat(world['key_file']).st_size}"
ask_of_others = lambda world: f"learned the process group of process 1: {os.getpgid(1)}"
return_too_much = lambda world: "x" * world["too_much_output"]
share_memory = lambda world: libc.shmctl(checked(libc.shmget(0x50F7, 4096, 0o1666)), 0, None)
crash = lambda world: ctypes.string_at(0)
signal_by_descriptor = lambda world: call("pidfd_send_signal", os.pidfd_open(os.getppid()), 0, None, 0)
queue_messages = lambda world: libc.msgctl(checked(libc.msgget(0x50F7, 0o1666)), 0, None)


# files


def read_key(world):
    with open(world["key_file"]) as file:
        return f"read {len(file.read())} characters of a key file"


def read_problems(world):
    with open(world["problem_file"]) as file:
        return f"read {len(file.read())} characters of a problem"


def import_reference(world):
    sys.path.insert(0, world["root"])
    path = os.path.join(world["root"], "reference", "__init__.py")
    spec = importlib.util.spec_from_file_location("reference", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def read_own_source(world):
    with open(world["inside_file"]) as file:
        return f"read {len(file.read())} characters of the sandbox's own code"


def write_file(world):
    last = None
    for folder in world["folders"]:
        try:
            with open(os.path.join(folder, world["name"]), "w") as file:
                file.write("here")
            return f"wrote a file in {folder}"
        except OSError as error:
            last = error
    raise last


def make_empty_file(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL))


def make_name(world):
    # names alone carry messages
    last = None
    for folder in world["folders"]:
        for make in (os.mkdir, os.mkfifo, lambda p: os.symlink("x", p), make_empty_file):
            try:
                make(os.path.join(folder, world["name"] + "-2"))
                return f"made a name in {folder}"
            except OSError as error:
                last = error
    raise last


# processes


def fork(world):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.2)
        os._exit(0)


def start_program(world):
    subprocess.run([sys.executable, "-c", ""], check=True)


def replace_program(world):
    try:
        os.execv("/no such program", ["x"])
    except OSError as error:
        permitted(error, errno.ENOENT)


def run_from_memory(world):
    fd = call("memfd_create", ctypes.c_char_p(b"x"), 0)
    return f"made a file in memory that could be run: descriptor {fd}"


def make_threads(world):
    threads = []
    try:
        for _ in range(400):
            thread = threading.Thread(target=time.sleep, args=(0.5,), daemon=True)
            thread.start()
            threads.append(thread)
    except RuntimeError as error:
        raise OSError(f"after {len(threads)} threads: {error}") from None
    return f"made {len(threads)} threads"


# other processes


def trace_parent(world):
    seize = 0x4206  # unlike an attach, it doesn't stop the traced process
    checked(libc.ptrace(seize, os.getppid(), None, None))


def read_parent_memory(world):
    with open(f"/proc/{os.getppid()}/mem", "rb") as file:
        file.read(0)


def read_parent_environment(world):
    with open(f"/proc/{os.getppid()}/environ", "rb") as file:
        return f"read {len(file.read())} bytes of its parent's environment"


def read_grader_environment(world):
    with open(f"/proc/{world['grader']}/environ", "rb") as file:
        return f"read {len(file.read())} bytes of the grader's environment"


def copy_parent_memory(world):
    local = ctypes.create_string_buffer(8)
    pair = struct.pack("=QQ", ctypes.addressof(local), 8)
    remote = struct.pack("=QQ", id(world), 8)
    try:
        checked(libc.process_vm_readv(os.getppid(), pair, 1, remote, 1, 0))
    except OSError as error:
        permitted(error, errno.EFAULT)


def use_descriptors(world):
    inherited = []
    for fd in range(4, 100):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            inherited.append(fd)
    if not inherited:
        raise OSError("no descriptor is open but its own")
    return f"inherited descriptors {inherited}"


def see_environment(world):
    if not os.environ:
        raise OSError("the environment is empty")
    return f"sees {len(os.environ)} environment variables"


# network and messages


def connect_tcp(world):
    with socket.create_connection(("127.0.0.1", world["port"]), timeout=1):
        return "connected to a port of this machine"


def send_datagram(world):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"x", ("192.0.2.1", 9))


def connect_abstract(world):
    with socket.socket(socket.AF_UNIX) as unix:
        unix.connect("\0" + world["abstract"])


def make_socket(world):
    socket.socketpair()


def queue_posix_messages(world):
    checked(libc.mq_open(b"/softmark-doctor", os.O_CREAT | os.O_RDWR, 0o666, None))
    libc.mq_unlink(b"/softmark-doctor")


# rights


def become_root(world):
    os.setresuid(0, 0, 0)
    if os.getuid() != 0:
        raise OSError("still another user")


def mount(world):
    try:
        checked(libc.mount(b"none", b"/", b"no such file system", 0, None))
    except OSError as error:
        permitted(error, errno.ENODEV)


def load_bpf(world):
    try:
        call("bpf", 0, ctypes.create_string_buffer(128), 128)
    except OSError as error:
        permitted(error, errno.EINVAL)


def watch_performance(world):
    attributes = ctypes.create_string_buffer(struct.pack("=II", 1, 128), 128)
    call("perf_event_open", attributes, 0, -1, -1, 0)


def store_in_keyring(world):
    kind, name, text = (ctypes.c_char_p(b) for b in (b"no such kind", b"softmark", b"x"))
    try:
        call("add_key", kind, name, text, 1, -4)
    except OSError as error:
        permitted(error, errno.ENODEV)


def arm_signal(world):
    fcntl.fcntl(3, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(3, 10, signal.SIGKILL)


def push_terminal(world):
    fcntl.ioctl(0, 0x5412, b"x")


# other slots


def wake_neighbour(world):
    page = ctypes.cast(libc.strtol, ctypes.c_void_p).value & ~4095
    call("futex", ctypes.c_void_p(page), 1, 1, None)


def order_page_cache(world):
    page = ctypes.cast(libc.strtol, ctypes.c_void_p).value & ~4095
    checked(libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(4096), 20))


def open_namespaces(world):
    os.close(os.open("/proc/self/ns/net", os.O_RDONLY))


# resources


def take_memory(world):
    block = mmap.mmap(-1, world["too_much_memory"])
    return f"got {len(block) // 2**20} MiB of memory"


def never_end(world):
    while True:
        pass
