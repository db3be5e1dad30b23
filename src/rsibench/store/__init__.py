"""The store: one relational database for journal and ledger, and one folder of content-addressed blobs.

The only package that imports SQLAlchemy, alembic or obstore. It keeps bytes and enforces what a database can enforce
(append only, no negative balance, write once). What events mean is the journal's business, what money means the
ledger's.
"""
