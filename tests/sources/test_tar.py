"""Members of archives that other programs wrote, and of damaged and hostile ones."""

import io
import tarfile

import pytest

from benchmarks.shelves import write_tar
from viewvote.errors import DatasetError
from viewvote.sources.tar import NAME_BYTES, TarReader

LONG = "deep/" * 60 + "photo.jpg"
MEMBERS = {"a.jpg": b"1", LONG: b"x" * 5000, "späte/ü.jpg": b"", "b" * 99: b"y" * 512, "d/" * 70 + "e" * 80: b"z" * 513}


def contents(path):
    reader = TarReader(io.BytesIO(path.read_bytes()), name="shard")
    return {member.name: reader.read(10**9) for member in reader.members()}


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_form_is_read_as_python_wrote_it(tmp_path, form):
    members = {name: data for name, data in MEMBERS.items() if form != tarfile.USTAR_FORMAT or name != LONG}
    assert contents(write_tar(tmp_path / "t.tar", members, form=form)) == members


def test_what_is_not_read_is_skipped(tmp_path):
    path = write_tar(tmp_path / "t.tar", {"big": b"x" * 3_000_000, "small": b"y"})
    with path.open("rb") as file:
        reader = TarReader(file, name="shard")
        assert [member.name for member in reader.members()] == ["big", "small"]


def test_links_and_devices_are_no_files(tmp_path):
    link = tarfile.TarInfo("link.jpg")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device = tarfile.TarInfo("null.jpg")
    device.type = tarfile.CHRTYPE
    path = write_tar(tmp_path / "t.tar", {"link.jpg": link, "null.jpg": device, "a.jpg": b"1"})
    reader = TarReader(io.BytesIO(path.read_bytes()), name="shard")
    assert [(member.name, member.is_file) for member in reader.members()] == [
        ("link.jpg", False),
        ("null.jpg", False),
        ("a.jpg", True),
    ]


@pytest.mark.parametrize(
    ("kept", "problem"),
    [
        (512 + 100, "ends in the middle of a member"),
        (512 + 1024, "ends without a mark of its end"),
        (512 + 1024 + 300, "ends in the middle of a member"),
    ],
)
def test_a_cut_off_archive_is_told(tmp_path, kept, problem):
    path = write_tar(tmp_path / "t.tar", {"a.jpg": b"x" * 1000, "b.jpg": b"y" * 1000}, form=tarfile.USTAR_FORMAT)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DatasetError, match=f"shard is damaged at byte .*{problem}"):
        contents(path)


def test_a_flipped_bit_in_a_header_is_told(tmp_path):
    path = write_tar(tmp_path / "t.tar", {"a.jpg": b"x", "b.jpg": b"y"}, form=tarfile.USTAR_FORMAT)
    data = bytearray(path.read_bytes())
    data[1024 + 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=r"damaged at byte 1,536: a header whose checksum is wrong"):
        contents(path)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_name_that_claims_gigabytes_is_not_read(kind):
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 7 * 10**9
    reads = []

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            reads.append(size)
            return header.tobuf(tarfile.GNU_FORMAT) if len(reads) == 1 else b"1" * size

    with pytest.raises(DatasetError, match="a name of 7,000,000,000 bytes"):
        list(TarReader(Endless(), name="shard").members())
    assert max(reads) <= NAME_BYTES


@pytest.mark.parametrize("size", [b"-0000000001", b"1_0", b"\x80\0\0\0" + b"\xff" * 8, b"+5", b"0x5"])
def test_sizes_that_no_member_has_are_damage(tmp_path, size):
    """A negative size would read all that follows into memory, one of 64 bits cannot be skipped."""
    header = bytearray(write_tar(tmp_path / "t.tar", {"a.jpg": b"1", "b.jpg": b"2"}).read_bytes())
    header[124:136] = size.ljust(12, b" ")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    with pytest.raises(DatasetError, match="a header with a size that"):
        list(TarReader(io.BytesIO(bytes(header)), name="shard").members())


@pytest.mark.parametrize(
    "record", [b"27 size=" + b"9" * 18 + b"\n", b"5019 size=" + b"1" * 5008 + b"\n", b"1" * 5000 + b" path=a\n"]
)
def test_extended_values_of_thousands_of_digits_are_damage(record):
    header = bytearray(512)
    header[:1], header[124:136], header[156:157] = b"x", b"%011o\0" % len(record), b"x"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    archive = bytes(header) + record + bytes(-len(record) % 512)
    with pytest.raises(DatasetError, match=r"damaged at byte"):
        list(TarReader(io.BytesIO(archive), name="shard").members())
