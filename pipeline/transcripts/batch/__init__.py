"""Batches: files, folders, archives, buckets and tables -> IncomingDocuments, one in memory at a time.

    paths        each path as given -> the files that it stands for -> their documents
    folder, archive, remote, bucket     where files lie; each gives them in the order of their names
    skips        what is no transcript by its name: junk, recordings, pictures
    kind         what a file is, by its content: one transcript, or documents as lines, JSON or a table
    ndjson, objects, table              files of documents
    companions   the names of speakers in a file beside their calls
    document     a file's bytes or a document's fields -> an IncomingDocument

A document that is merely bad is a row with its fault; what makes a batch wrong is a Problem with its place.
"""

from pipeline.transcripts.batch.document import incoming
from pipeline.transcripts.batch.paths import read_paths

__all__ = ["incoming", "read_paths"]
