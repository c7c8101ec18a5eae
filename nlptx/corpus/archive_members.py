"""Reads the members of a tar archive, and reports damage that tarfile would take for the end of the archive."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import Any, Self

from nlptx.corpus.compression import open_by_content

_BLOCK = 1 << 20
# Maximum size of the metadata of one archive member (long names, times, permissions), in bytes.
_LONGEST_MEMBER_HEADER = 1 << 18
# Types of archive members that contain metadata about the next member: long names and pax headers.
_METADATA_TYPES = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)


class _Member(tarfile.TarInfo):
    """An archive member that reports a damaged header, which tarfile would treat as the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except (tarfile.EmptyHeaderError, tarfile.EOFHeaderError):  # type: ignore[attr-defined]
            raise  # the end of the archive
        except (tarfile.HeaderError, ArithmeticError, LookupError, RecursionError, ValueError) as error:
            raise tarfile.ReadError(str(error)) from error

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Process the data after a header. Check the size of metadata first, because tarfile reads it into memory."""
        if self.type in _METADATA_TYPES and self.size > _LONGEST_MEMBER_HEADER:
            raise tarfile.ReadError(f"{self.size:,} bytes are too much metadata for a member")
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("sparse files are not supported")
        return super()._proc_member(archive)  # type: ignore[misc]

    def _proc_gnusparse_10(self, *arguments: object) -> None:
        raise tarfile.ReadError("sparse files are not supported")


def read_members(name: str) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield a pair (open archive, member) for each regular file. Read the file before requesting the next pair.

    Raises:
        tarfile.TarError, or a decompression error: the archive is damaged.
    """
    with open_by_content(name) as file, tarfile.open(fileobj=file, mode="r|", tarinfo=_Member) as archive:
        for member in archive:
            if member.isreg():
                yield archive, member
            # Without these two calls, the lists of members and headers would grow with the archive.
            archive.members.clear()  # type: ignore[attr-defined]
            archive.pax_headers.clear()  # type: ignore[attr-defined]
            _skip_contents(archive)
        # tarfile stops at the end marker. The rest is read too, in order to verify the checksum of compressed data and
        # to report damage or a second archive.
        while rest := archive.fileobj.read(_BLOCK):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("data after the end of the archive")


def _skip_contents(archive: tarfile.TarFile) -> None:
    """Read to the last byte before the next header, and raise an error if the archive ends earlier.

    tarfile itself relies on the size stated in the header.
    """
    stream: Any = archive.fileobj
    while (remaining := archive.offset - 1 - stream.tell()) > 0:
        if not stream.read(min(remaining, _BLOCK)):
            raise tarfile.ReadError("unexpected end of data")
