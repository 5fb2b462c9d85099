"""What every declared model is made of: frozen, strict, no unknown fields."""

from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Frozen, no unknown fields, no coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _check_share(text: str) -> str:
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError("a share of the trunk's width such as 1/3") from None
    if not 0 < share <= 1:
        raise ValueError("a share of the trunk's width, above 0 and at most 1")
    return text


Share = Annotated[str, AfterValidator(_check_share)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{20}$")]
Probability = Annotated[float, Field(ge=0, le=1)]
