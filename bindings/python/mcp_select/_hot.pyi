# What hot.c says.
from collections.abc import Callable
from typing import Final, NoReturn

from typing_extensions import Self

POOL_SIZE: Final[int]

def empty_pool() -> int: ...

class Selection:
    @property
    def json(self) -> bytes: ...
    @property
    def _status(self) -> int: ...
    @property
    def _source(self) -> object: ...
    @property
    def _address(self) -> int: ...
    @classmethod
    def _call(
        cls,
        engine: int,
        request: int,
        result: bytes,
        source: object,
        refuse: Callable[[int, int], NoReturn],
        /,
    ) -> Self: ...
