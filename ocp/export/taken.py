"""Names that an exported solver cannot have: words, headers and functions of C and C++, targets of CMake."""

from __future__ import annotations

import ctypes
import sys

LONGEST = 60  # letters of a name

KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
main std trisweep linux unix i386
"""
HEADERS = """
assert complex ctype dlfcn endian errno features fcntl fenv float inttypes iso646 limits link locale malloc math memory
pthread sched semaphore setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string
strings tgmath threads time uchar unistd wchar wctype
"""
TARGETS = "all check clean depend edit_cache help install m package rebuild_cache test"
TAKEN = frozenset(f"{KEYWORDS} {HEADERS} {TARGETS}".split())


def taken(name: str) -> bool:
    """Whether a name is another's: `pause` is a function, `time` a header too."""
    return name in TAKEN or (sys.platform != "win32" and hasattr(ctypes.CDLL(None), name))
