"""The reasons why a file cannot be read as a proof pack: code to English message id."""

from __future__ import annotations

from webapp.i18n import mark

PACK_MESSAGES = {
    "pack_not_zip": mark(
        "%(file)s is no proof pack: it is not a complete zip. Choose the file that "
        "`relevansi export --format proof-pack` wrote."
    ),
    "pack_without_manifest": mark(
        "%(file)s is no proof pack: manifest.json is not at its top. Choose the file that "
        "`relevansi export --format proof-pack` wrote, and keep its folders as they are."
    ),
    "pack_too_large": mark(
        "%(file)s would unpack to more than %(limit)s MB or %(members)s files, which no proof "
        "pack does. Nothing was read."
    ),
    "pack_bomb": mark(
        "%(file)s holds a file packed far more tightly than any real one (%(name)s). Nothing "
        "was read."
    ),
    "pack_name_unsafe": mark(
        "%(file)s holds a file whose name leads out of the pack (%(name)s). Nothing was read; "
        "do not unpack it."
    ),
    "pack_member_twice": mark(
        "%(file)s holds two files called %(name)s, which may differ. Nothing was read."
    ),
    "pack_encrypted": mark("%(file)s is encrypted (%(name)s). Pack it without a password."),
    "pack_manifest_wrong": mark(
        "%(file)s: manifest.json cannot be used (%(place)s). Export the proof pack again."
    ),
    "pack_newer": mark(
        "%(file)s is a proof pack of version %(version)s; this program reads version %(known)s. "
        "Use a newer Relevansi."
    ),
    "pack_older": mark(
        "%(file)s is a proof pack of version 1. Verify it with Relevansi 1.0.0, which made it."
    ),
}
