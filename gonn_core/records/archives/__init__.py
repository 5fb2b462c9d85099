"""Untrusted archives and folders as bounded streams of game files.

An archive may come from anywhere and be made to harm. What holds against that, and where:

* Nothing is ever extracted: members are read as streams, and a member's name is only a name, never a path that is
  opened; it is made printable before anyone is shown it (`NamedCount.add`, `errors.InputError`).
* Links, devices, sparse files, encrypted members, nested archives and whatever is no .sgf file are passed over and
  counted, each under its reason. A folder's entry is opened without waiting and only then looked at (`members.py`).
* Bounds over all sources of a build together: members and uncompressed bytes; per game its bytes (`reading.py`). A
  size that a directory or header claims is never believed: one byte more than the limit is asked for.
* A file or folder below a folder that the system does not give (no permission, an error of the disk) is passed over,
  counted and named (`ArchiveReading.ignore_unreadable`).
* Time that grows with the length of what is read and no faster: no pattern goes over a text twice, no buffer is copied
  for each piece that comes (`tests/records/test_linear.py`).
* Bounded memory: the xz decoder's (`tar.XZ_MEMORY`), extended headers of tar, the central directory of zip; LZMA in
  zip, whose memory cannot be bounded, is passed over.
* Damage to an archive as a whole (truncation, a wrong checksum, headers that are none) stops with one line that names
  the file and the place: a part of its games would be another collection, and nobody would notice. A single bad game
  never does: that is `records.sgf`'s to count, with bounds of its own on nodes and setup stones.
"""
