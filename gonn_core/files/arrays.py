"""Arrays that grow on disk row by row and are plain .npy files when closed."""

import hashlib
import os
from io import BytesIO
from pathlib import Path

import numpy as np


class GrowingArray:
    """A file of rows of one dtype and shape, .npy or (other suffix) without a header; hashed while it is written."""

    def __init__(self, path: Path, dtype, row_shape: tuple[int, ...] = ()):
        self.path, self.dtype, self.row_shape, self.rows = path, np.dtype(dtype), row_shape, 0
        self._file = open(path, "wb")  # noqa: SIM115  closed by `close` or `abandon`
        self._hash = hashlib.sha256()
        self._header_bytes = len(self._header())
        self._file.write(self._header())

    def _header(self) -> bytes:
        if self.path.suffix != ".npy":
            return b""
        out = BytesIO()
        # numpy leaves room for the first axis to grow, so the header's length does not change with the number of rows.
        np.lib.format.write_array_header_1_0(
            out,
            {
                "descr": np.lib.format.dtype_to_descr(self.dtype),
                "fortran_order": False,
                "shape": (self.rows, *self.row_shape),
            },
        )
        return out.getvalue()

    def append(self, rows: np.ndarray) -> None:
        """Write (N, *row_shape) rows."""
        if rows.dtype != self.dtype or rows.shape[1:] != self.row_shape:
            raise TypeError(
                f"{self.path.name}: rows of {rows.dtype} {rows.shape[1:]}, not {self.dtype} {self.row_shape}"
            )
        data = np.ascontiguousarray(rows).view(np.uint8).reshape(-1).data if rows.size else b""
        self._file.write(data)
        self._hash.update(data)
        self.rows += len(rows)

    def close(self) -> dict:
        """Finish the header, flush to the disk; what the manifest says about the array."""
        header = self._header()
        if len(header) != self._header_bytes:
            raise RuntimeError("numpy's header grew with the number of rows")
        self._file.seek(0)
        self._file.write(header)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return {"rows": self.rows, "sha256": self._hash.hexdigest()}

    def abandon(self) -> None:
        """Close without finishing, whatever state the file is in."""
        try:
            self._file.close()
        except OSError:
            pass
