"""SQLAlchemy with asyncio: an `AsyncSession` with one row of a mapped class, without and with `enqueue_after_commit_async`."""

import asyncio

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from turns import SERVER, Turns

from ojs_adapter_sqlalchemy import OjsOutbox


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]


async def main() -> None:
    turns = Turns("SQLAlchemy, asyncio")
    engine = create_async_engine(turns.url.replace("postgres://", "postgresql+asyncpg://", 1))
    ojs = OjsOutbox(SERVER, engine, relay=False, same_database=False)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        await connection.run_sync(ojs.create_table)

    for staged in turns:
        async with AsyncSession(engine) as session, session.begin():
            user = User(email="ada@example.com")
            session.add(user)
            await session.flush()
            if staged:
                await ojs.enqueue_after_commit_async(session, "email.welcome", [user.id])

    async with engine.connect() as connection:
        turns.report((await connection.execute(text("SELECT count(*) FROM ojs_outbox"))).scalar_one())
    ojs.close()
    await engine.dispose()


asyncio.run(main())
