"""What every declared model is made of: frozen, strict, no unknown fields."""

import re
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Frozen, no unknown fields, no coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _check_share(text: str) -> str:
    if not re.fullmatch(
        r"\d{1,4}(/[1-9]\d{0,3})?|\d?\.\d{1,6}", text, re.ASCII
    ):  # Fraction takes hours for 1e-99999999
        raise ValueError("a share of the trunk's width such as 1/3")
    if not 0 < Fraction(text) <= 1:
        raise ValueError("a share of the trunk's width, above 0 and at most 1")
    return text


Share = Annotated[str, AfterValidator(_check_share)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{20}$")]
Probability = Annotated[float, Field(ge=0, le=1)]
