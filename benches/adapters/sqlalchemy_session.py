"""SQLAlchemy: a `Session` with one row of a mapped class, without and with `enqueue_after_commit`."""

from sqlalchemy import create_engine, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from turns import SERVER, Turns

from ojs_adapter_sqlalchemy import OjsOutbox


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]


turns = Turns("SQLAlchemy")
engine = create_engine(turns.url.replace("postgres://", "postgresql+psycopg://", 1))
ojs = OjsOutbox(SERVER, engine, relay=False, same_database=False)
with engine.begin() as connection:
    Base.metadata.create_all(connection)
    ojs.create_table(connection)

for staged in turns:
    with Session(engine) as session, session.begin():
        user = User(email="ada@example.com")
        session.add(user)
        session.flush()
        if staged:
            ojs.enqueue_after_commit(session, "email.welcome", [user.id])

with engine.connect() as connection:
    turns.report(connection.execute(text("SELECT count(*) FROM ojs_outbox")).scalar_one())
ojs.close()
engine.dispose()
