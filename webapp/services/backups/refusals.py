"""Why a backup is not made, or not put back."""

from __future__ import annotations

from webapp.failures import Conflict, Missing, Refused
from webapp.i18n import mark

OTHER_BACKUP = mark("Restore another backup.")


class NoDatabaseYet(Missing):
    """There is no database yet, or one without tables; the argument says where."""

    message = mark("There is no database yet: %(name)s")
    remedy = mark("Begin a study first, or set RELEVANSI_DATABASE_URL to the one there is.")


class BackupExists(Conflict):
    """A file of this name is there already; the argument is its name."""

    message = mark("%(name)s is there already")
    remedy = mark("--replace overwrites it.")


class NotABackup(Refused):
    """The file is not a backup of ours; the argument is its name."""

    message = mark("%(name)s is not a backup of Relevansi, or not the whole of one")
    remedy = OTHER_BACKUP


class DamagedBackup(Refused):
    """The file is a backup, but not whole or not as it was written; the argument says why."""

    message = mark("The backup is damaged, nothing was restored: %(name)s")
    remedy = OTHER_BACKUP


class NewerBackup(Refused):
    """The backup is of a newer version of the tables; the argument is the product's version."""

    message = mark("The backup was made by a newer Relevansi (%(name)s)")
    remedy = mark("Install that one first.")


class RestoresAsSuperuser(Refused):
    """The role of PostgreSQL may do anything on its server; the argument is the database."""

    message = mark("The role of %(name)s is a superuser of its server")
    remedy = mark("Restore as a role that owns only this database, or add --as-superuser.")


class DatabaseNotEmpty(Conflict):
    """The database to restore into holds rows; the argument says where it is."""

    message = mark("%(name)s holds data")
    remedy = mark("--replace puts the backup in its place and keeps it beside.")
