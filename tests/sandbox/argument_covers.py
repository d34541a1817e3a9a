"""How a program hides that it has overwritten its argument: tried on the runner and on the whole grader.

Each defines ``cover(x, kept)``: ``x`` has just been overwritten, ``kept`` is a copy of what it was.  What
comes before must begin with `PREAMBLE`, which imports neither library: a file that does is one for it.
"""

from __future__ import annotations

PREAMBLE = """
import ctypes, gc, sys

def copied(x):
    return x.clone() if hasattr(x, "clone") else x.copy()

def above(name):
    frame = sys._getframe()
    while frame is not None:
        if name in frame.f_locals or name in frame.f_globals:
            return frame
        frame = frame.f_back
    raise LookupError(name)
"""
COVERS = {
    "a writer that puts the copy in": """
def cover(x, kept):
    writer = above("writer").f_locals["writer"]
    plain = type(writer).node
    writer.node = lambda value, depth=0: plain(writer, kept if value is x else value, depth)
""",
    "a copy in the tuple that the harness holds": """
def cover(x, kept):
    for holder in gc.get_referrers(x):
        if type(holder) is tuple and any(entry is x for entry in holder):
            place = id(holder) + tuple.__basicsize__ + 8 * [entry is x for entry in holder].index(True)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
            ctypes.c_void_p.from_address(place).value = id(kept)
""",
    "an entry of the caller's list": """
def cover(x, kept):
    for thing in gc.get_referrers(x):
        if type(thing) is list:
            thing[[entry is x for entry in thing].index(True)] = kept
    describe = above("_describe").f_globals
    plain = describe["describe"]
    describe["describe"] = lambda value, limit: plain(kept if value is x else value, limit)
""",
    "an array that points to the copy": """
def cover(x, kept):
    if hasattr(x, "clone"):
        x.data = kept
        return
    keep.append(kept)
    start = x.__array_interface__["data"][0]
    for offset in range(16, 96, 8):
        if ctypes.c_void_p.from_address(id(x) + offset).value == start:
            ctypes.c_void_p.from_address(id(x) + offset).value = kept.__array_interface__["data"][0]
            return
keep = []
""",
    "a patched function that describes arrays": """
def cover(x, kept):
    for thing in gc.get_objects():
        if type(thing) is dict and "writes_through" in thing and "describe" in thing:
            plain = thing["describe"]
            thing["describe"] = lambda value, limit, plain=plain: plain(kept if value is x else value, limit)
""",
    "a frame that is packed anew": """
def cover(x, kept):
    packing = above("_make_calls").f_globals
    plain = packing["pack"]
    def pack(kind, body, blobs=()):
        packing["pack"] = plain
        if body.get("arguments"):
            library = "torch" if hasattr(kept, "clone") else "numpy"
            dtype = str(kept.dtype).removeprefix("torch.")
            body["arguments"][0] = ["a", library, dtype, list(kept.shape), 3]
            blobs = [blobs[0], kept.numpy().tobytes() if library == "torch" else kept.tobytes()]
        return plain(kind, body, blobs)
    packing["pack"] = pack
""",
    "a frame that says that all is in its place": """
def cover(x, kept):
    packing = above("_make_calls").f_globals
    plain = packing["pack"]
    def pack(kind, body, blobs=()):
        packing["pack"] = plain
        return plain(kind, body | {"arguments": [["u"], *body["arguments"][1:]]}, blobs[:1])
    packing["pack"] = pack
""",
    "a call that puts the numbers back later": """
before = []
def cover(x, kept):
    writer = above("writer").f_locals["writer"]
    plain = type(writer).node
    writer.node = lambda value, depth=0: plain(writer, kept if value is x else value, depth)
    for array, numbers in before:
        array[...] = numbers
    before[:] = [(x, kept)]
""",
}
