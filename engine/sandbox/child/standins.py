"""Stand-ins that do nothing for packages that draw, show progress, talk to a notebook or check annotations.

``torch.compile`` gives the function back as it is, too.

A notebook that also plots must load where nothing can be plotted.  A stand-in takes any attribute, call,
index, assignment and ``with``, and gives stand-ins back; the progress bars pass on what they are given,
item by item.  None of them can become a number or an array, so none gets into what a function computes.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, FunctionType, ModuleType
from typing import Any, Final, Self

STANDINS: Final = frozenset(
    {
        # plots
        "altair", "bokeh", "graphviz", "holoviews", "matplotlib", "mpl_toolkits", "plotly", "plotnine",
        "pylab", "seaborn", "torchinfo", "torchsummary", "torchviz",
        # progress and logs
        "alive_progress", "fastprogress", "progressbar", "rich", "tensorboard", "tqdm", "wandb",
        # notebooks
        "IPython", "google", "google.colab", "ipywidgets", "nbformat", "otter",
        # annotations
        "beartype", "jaxtyping", "nptyping", "torchtyping", "typeguard",
    }
)  # fmt: skip
"""Packages that nothing is computed with; a file handed in, or a package that is offered, of one of these
names wins."""
_BARS: Final = frozenset(
    {"alive_it", "master_bar", "progress_bar", "progressbar", "tqdm", "tqdm_notebook", "track", "trange"}
)
_NOTEBOOK: Final = "# --- code cell 1 ---"  # how the source of a notebook begins


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class _Inert:
    """Takes everything and does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take anything: a class statement with a stand-in among its bases makes one."""

    def __getattr__(self, name: str) -> Any:
        if _is_special(name):  # numpy and torch ask by them whether this is an array
            raise AttributeError(name)
        return _part(name)

    def __setattr__(self, name: str, value: Any) -> None:
        return None

    def __delattr__(self, name: str) -> None:
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], FunctionType | type):
            return args[0]  # used as a decorator
        return _Inert()

    def __getitem__(self, key: Any) -> _Inert:
        return _Inert()

    def __setitem__(self, key: Any, value: Any) -> None:
        return None

    def __iter__(self) -> Iterator[_Inert]:
        """Give as many as an assignment unpacks (``fig, axes = plt.subplots()``), else none."""
        return iter([_Inert() for _ in range(_unpacked(sys._getframe(1)))])

    def __contains__(self, item: Any) -> bool:
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __bool__(self) -> bool:
        return False  # "while bar: …" must end

    def __or__(self, other: Any) -> Any:
        return self  # Float[Array, "n"] | None

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a stand-in for a package that isn't here holds no numbers")

    def __repr__(self) -> str:
        return ""

    def __format__(self, spec: str) -> str:
        return ""


def _unpacked(frame: FrameType) -> int:
    """Return how many values the frame's present instruction unpacks; 0 if it unpacks none."""
    code, index = frame.f_code.co_code, frame.f_lasti
    # of the starred form, this is the number before the star
    return code[index + 1] if dis.opname[code[index]] in ("UNPACK_SEQUENCE", "UNPACK_EX") else 0


class _Bar(_Inert):
    """A progress bar: it iterates over its items, and is inert otherwise."""

    def __init__(self, iterable: Any = (), *args: Any, **kwargs: Any) -> None:
        object.__setattr__(self, "_items", kwargs.get("sequence", iterable))

    def __iter__(self) -> Iterator[Any]:
        return iter(object.__getattribute__(self, "_items"))

    def __len__(self) -> int:
        return len(object.__getattribute__(self, "_items"))

    def __bool__(self) -> bool:
        return True


class _BarMaker(_Inert):
    """What makes a progress bar; the module `tqdm` holds one of its own name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Bar(*args, **kwargs)


class _RangeMaker(_Inert):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Bar(range(*(value for value in args if isinstance(value, int))))


def _part(name: str) -> _Inert:
    if name == "trange":
        return _RangeMaker()
    return _BarMaker() if name in _BARS else _Inert()


class _InertModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if _is_special(name):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return _part(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _part(self.__name__.rpartition(".")[2])(*args, **kwargs)


class _Finder(MetaPathFinder, Loader):
    """Finds a stand-in for each package and everything in it; it comes last, so it hides nothing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        first, _, rest = fullname.partition(".")
        if first not in STANDINS or (first == "google" and rest and rest.partition(".")[0] != "colab"):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _InertModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code."""


def _uncompiled(model: Any = None, **_options: Any) -> Any:
    """Stand in for ``torch.compile``, which needs a compiler and folders to write to: the same function."""
    return (lambda function: function) if model is None else model


def offer_standins(main: ModuleType, source: str) -> None:
    """Let imports find the stand-ins after everything else.

    Parameters
    ----------
    main : module
        The submission's own. In a notebook two names are there without an import.
    source : str
    """
    sys.meta_path.append(_Finder())
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.compile = _uncompiled  # type: ignore[attr-defined]
    if source.startswith(_NOTEBOOK):
        for name in ("display", "get_ipython"):
            main.__dict__.setdefault(name, _Inert())
