"""What can be read of an export whose parts are not all as they should be: one odd field costs itself alone."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, field_validator
from pydantic_core.core_schema import ValidationInfo

from .chats import name

TOLD = 5  # of what was odd, of one conversation


class Salvaged(BaseModel):
    """A part of an export, of which a field of another kind than it should be is as if it was not there."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_nothing(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return handler(value)
        except ValidationError:
            return cls.model_fields[str(info.field_name)].get_default(call_default_factory=True)


class Oddities:
    """What was left out of a conversation because it cannot be understood, in words that find it there."""

    def __init__(self, title: object) -> None:
        self._title = name(title) or "a chat without a title"
        self._told: list[str] = []
        self._more = 0

    def tell(self, what: str) -> None:
        """Note that `what`, such as "message 3, whose author is unknown", was left out."""
        if len(self._told) < TOLD:
            self._told.append(f"“{self._title}”: {what}")
        else:
            self._more += 1

    @property
    def told(self) -> tuple[str, ...]:
        """What is told of it."""
        return (*self._told, *([f"“{self._title}”: and {self._more:,} more"] if self._more else []))
