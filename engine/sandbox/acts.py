"""What `grade doctor` has hostile code try inside the sandbox.

This file is never imported: it is read as text and handed in like a submission.  Each function does
one forbidden act; it returns a sentence if it succeeded, and raises if it was stopped.  What would do
harm is asked for in a form that meets another error where it is permitted.
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
# ruff: noqa: D103, PTH101, PTH116, PTH118, PTH123, PTH208, PTH211


with contextlib.suppress(ImportError):  # Windows has neither
    import fcntl
    import resource
libc = ctypes.CDLL(None if os.name == "posix" else "msvcrt", use_errno=True)
if hasattr(libc, "syscall"):
    libc.syscall.restype = ctypes.c_long
# a machine that isn't listed tries numbers that no kernel knows
NUMBERS = {
    "x86_64": {
        "add_key": 248,
        "bpf": 321,
        "clone3": 435,
        "futex": 202,
        "io_uring_setup": 425,
        "keyctl": 250,
        "memfd_create": 319,
        "perf_event_open": 298,
        "pidfd_send_signal": 424,
        "userfaultfd": 323,
    },
    "aarch64": {
        "add_key": 217,
        "bpf": 280,
        "clone3": 435,
        "futex": 98,
        "io_uring_setup": 425,
        "keyctl": 219,
        "memfd_create": 279,
        "perf_event_open": 241,
        "pidfd_send_signal": 424,
        "userfaultfd": 282,
    },
}


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
    """Tell whether the act got past its permission check: it failed for the reason that we built in."""
    if error.errno != code:
        raise error
    return True


# --- files ------------------------------------------------------------------------------


def read_key(world):
    with open(world["key_file"]) as file:
        return f"read {len(file.read())} characters of a key file"


def list_folder(world):
    return f"listed {len(os.listdir(world['folder']))} names in the key's folder"


def see_metadata(world):
    return f"saw the size of a file outside: {os.stat(world['key_file']).st_size}"


def read_problems(world):
    with open(world["problem_file"]) as file:
        return f"read {len(file.read())} characters of a problem"


def import_reference(world):
    sys.path.insert(0, world["root"])
    path = os.path.join(world["root"], "reference", "__init__.py")
    spec = importlib.util.spec_from_file_location("reference", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return "imported the reference"


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
    """Names alone carry messages."""
    last = None
    for folder in world["folders"]:
        for make in (os.mkdir, os.mkfifo, lambda p: os.symlink("x", p), make_empty_file):
            try:
                make(os.path.join(folder, world["name"] + "-2"))
                return f"made a name in {folder}"
            except OSError as error:
                last = error
    raise last


def change_file(world):
    os.chmod(world["key_file"], 0o777)
    return "changed the mode of a file outside"


# --- processes --------------------------------------------------------------------------


def fork(world):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.2)
        os._exit(0)
    return "made a process"


def start_program(world):
    subprocess.run([sys.executable, "-c", ""], check=True)
    return "started a program"


def replace_program(world):
    try:
        os.execv("/no such program", ["x"])
    except OSError as error:
        permitted(error, errno.ENOENT)
    return "may become another program"


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


# --- other processes --------------------------------------------------------------------


def signal_parent(world):
    os.kill(os.getppid(), 0)
    return "may signal its parent"


def signal_grader(world):
    os.kill(world["grader"], 0)
    return "may signal the grader"


def signal_by_descriptor(world):
    fd = os.pidfd_open(os.getppid())
    call("pidfd_send_signal", fd, 0, None, 0)
    return "may signal its parent by a descriptor"


def trace_parent(world):
    seize = 0x4206  # unlike an attach, it doesn't stop the traced process
    checked(libc.ptrace(seize, os.getppid(), None, None))
    return "traces its parent"


def read_parent_memory(world):
    with open(f"/proc/{os.getppid()}/mem", "rb") as file:
        file.read(0)
    return "opened its parent's memory"


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
    return "may copy its parent's memory"


def use_descriptors(world):
    found = []
    for fd in range(4, 100):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            continue
    if not found:
        raise OSError("no descriptor is open but its own")
    return f"inherited descriptors {found}"


def see_environment(world):
    if not os.environ:
        raise OSError("the environment is empty")
    return f"sees {len(os.environ)} environment variables"


# --- network and messages ---------------------------------------------------------------


def connect_tcp(world):
    with socket.create_connection(("127.0.0.1", world["port"]), timeout=1):
        return "connected to a port of this machine"


def send_datagram(world):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"x", ("192.0.2.1", 9))
    return "sent a datagram"


def connect_abstract(world):
    with socket.socket(socket.AF_UNIX) as unix:
        unix.connect("\0" + world["abstract"])
    return "connected to an abstract socket of this machine"


def make_socket(world):
    socket.socketpair()
    return "made sockets"


def share_memory(world):
    libc.shmctl(checked(libc.shmget(0x50F7, 4096, 0o1666)), 0, None)
    return "made a System V shared memory"


def queue_messages(world):
    libc.msgctl(checked(libc.msgget(0x50F7, 0o1666)), 0, None)
    return "made a System V message queue"


def queue_posix_messages(world):
    checked(libc.mq_open(b"/softmark-doctor", os.O_CREAT | os.O_RDWR, 0o666, None))
    libc.mq_unlink(b"/softmark-doctor")
    return "made a POSIX message queue"


# --- rights -----------------------------------------------------------------------------


def become_root(world):
    os.setresuid(0, 0, 0)
    if os.getuid() == 0:
        return "is root"
    raise OSError("still another user")


def mount(world):
    try:
        checked(libc.mount(b"none", b"/", b"no such file system", 0, None))
    except OSError as error:
        permitted(error, errno.ENODEV)
    return "may mount file systems"


def unshare_user(world):
    checked(libc.unshare(0x10000000))
    return "made a user namespace"


def unshare_network(world):
    checked(libc.unshare(0x40000000))
    return "made a network namespace"


def change_root(world):
    os.chroot("/")
    return "changed its root"


def load_bpf(world):
    try:
        call("bpf", 0, ctypes.create_string_buffer(128), 128)
    except OSError as error:
        permitted(error, errno.EINVAL)
    return "may use bpf"


def watch_performance(world):
    attributes = ctypes.create_string_buffer(struct.pack("=II", 1, 128), 128)
    call("perf_event_open", attributes, 0, -1, -1, 0)
    return "opened a performance counter"


def set_up_ring(world):
    call("io_uring_setup", 1, ctypes.create_string_buffer(256))
    return "set up io_uring"


def use_keyring(world):
    call("keyctl", 0, -3, 1, 0, 0)
    return "has a kernel keyring"


def store_in_keyring(world):
    kind, name, text = (ctypes.c_char_p(b) for b in (b"no such kind", b"softmark", b"x"))
    try:
        call("add_key", kind, name, text, 1, -4)
    except OSError as error:
        permitted(error, errno.ENODEV)
    return "may store messages in the kernel's keyring"


def handle_page_faults(world):
    call("userfaultfd", 1)
    return "made a userfaultfd"


def arm_signal(world):
    fcntl.fcntl(3, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(3, 10, signal.SIGKILL)
    return "armed a signal by F_SETOWN and F_SETSIG"


def push_terminal(world):
    fcntl.ioctl(0, 0x5412, b"x")
    return "typed into the terminal"


def raise_limits(world):
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    return "changed its limits"


def stay_alive(world):
    checked(libc.prctl(1, 0, 0, 0, 0))
    return "took off its parent-death signal"


def raise_priority(world):
    os.nice(1)
    return "changed its priority"


# --- other slots ------------------------------------------------------------------------


def wake_neighbour(world):
    page = ctypes.cast(libc.strtol, ctypes.c_void_p).value & ~4095
    call("futex", ctypes.c_void_p(page), 1, 1, None)
    return "woke whoever waits on a page of the C library"


def read_machine(world):
    checked(libc.sysinfo(ctypes.create_string_buffer(256)))
    return "read the machine's free memory and number of threads"


def ask_of_others(world):
    return f"learned the process group of process 1: {os.getpgid(1)}"


def order_page_cache(world):
    page = ctypes.cast(libc.strtol, ctypes.c_void_p).value & ~4095
    checked(libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(4096), 20))
    return "had a page of the C library thrown out of memory first"


def open_namespaces(world):
    os.close(os.open("/proc/self/ns/net", os.O_RDONLY))
    return "opened its network namespace"


# --- resources --------------------------------------------------------------------------


def take_memory(world):
    block = mmap.mmap(-1, world["too_much_memory"])
    return f"got {len(block) // 2**20} MiB of memory"


def never_end(world):
    while True:
        pass


def sleep_long(world):
    time.sleep(1000)
    return "slept"


def return_too_much(world):
    return "x" * world["too_much_output"]


def crash(world):
    ctypes.string_at(0)
