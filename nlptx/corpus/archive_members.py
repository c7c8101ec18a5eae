"""Reads the members of a tar archive, and reports damage that tarfile would mistake for the end of the archive."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import Any, BinaryIO, Self, cast

from nlptx.corpus.compression import open_by_content

_BLOCK = 1 << 20
# Maximum size of the metadata of one archive member (long names, times, permissions), in bytes.
_MAX_MEMBER_HEADER = 1 << 18
# Types of archive members that contain metadata about the next member: long names and pax headers.
_METADATA_TYPES = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)


class _Member(tarfile.TarInfo):
    """The header of an archive member.

    If the header is damaged, ReadError is raised. Without this class, tarfile would mistake the damage for the end of
    the archive.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise  # a block of zeros, which marks the end of the archive
        except tarfile.EmptyHeaderError as error:  # type: ignore[attr-defined]
            if archive.offset == 0:
                raise  # the archive is empty
            raise tarfile.ReadError("it ends without an end marker") from error
        except (tarfile.HeaderError, ArithmeticError, LookupError, RecursionError, ValueError) as error:
            raise tarfile.ReadError(str(error)) from error

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Process the data after a header. First check the size of metadata, which tarfile reads into memory."""
        if self.size < 0:
            raise tarfile.ReadError("a member of negative size")
        if self.type in _METADATA_TYPES and self.size > _MAX_MEMBER_HEADER:
            raise tarfile.ReadError(f"{self.size:,} bytes of metadata are too many for an archive member")
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("sparse files are not supported")
        return super()._proc_member(archive)  # type: ignore[misc]

    def _proc_gnusparse_10(self, *arguments: object) -> None:
        raise tarfile.ReadError("sparse files are not supported")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10


class _ForwardOnlyFile:
    """Wraps a stream that can only be read forwards, and provides the file methods that tarfile calls.

    The streaming mode of tarfile, ``r|``, would take twice as long.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._position = 0

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._position += len(data)
        return data

    def seek(self, position: int) -> None:
        """Read up to a position, or up to the end of the stream if the stream ends earlier."""
        while self._position < position and self.read(min(position - self._position, _BLOCK)):
            pass


def read_members(name: str, max_bytes: int) -> Iterator[tuple[str, bytes | None]]:
    """Yield the name of each file in an archive, and at most the first ``max_bytes`` bytes of the file.

    Instead of the contents, None is yielded for a link to another file.

    Raises:
        tarfile.TarError, or a decompression error: the archive is damaged.
    """
    with open_by_content(name) as stream:
        file = _ForwardOnlyFile(stream)
        archive = tarfile.TarFile(fileobj=cast(Any, file), tarinfo=_Member)
        while (member := archive.next()) is not None:
            if member.isreg():
                size = min(member.size, max_bytes)
                contents = file.read(size)
                if len(contents) < size:
                    raise tarfile.ReadError("unexpected end of data")
                yield member.name, contents
            elif member.islnk() or member.issym():
                yield member.name, None
            # Without these two calls, the lists of members and headers would grow with the archive.
            archive.members.clear()  # type: ignore[attr-defined]
            archive.pax_headers.clear()  # type: ignore[attr-defined]
        # tarfile stops at the end marker. The rest of the file is read too, in order to verify the checksum of
        # compressed data and to report damage or a second archive.
        while rest := file.read(_BLOCK):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("data after the end of the archive")
