"""The order flow of "Framework Adapters", section 11.1, as printed; and savepoints around it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from drivers import asyncio_url
from ojs_adapter_sqlalchemy import AsyncDatabase, sqlite_savepoints


class Response(dict):
    """A framework's."""

    def __init__(self, body, status):
        super().__init__(body, status=status)


def handler(db, ojs):
    # --- as in the specification ---
    async def place_order(request):
        async with db.transaction() as tx:
            order = await tx.execute(
                "INSERT INTO orders (user_id, total) VALUES ($1, $2) RETURNING id",
                request.user_id, request.total
            )

            for item in request.items:
                await tx.execute(
                    "INSERT INTO order_items (order_id, product_id, qty) VALUES ($1, $2, $3)",
                    order.id, item.product_id, item.quantity
                )

            # All jobs are staged in the outbox within the same transaction
            ojs.enqueue_after_commit("order.confirm_email", [order.id])
            ojs.enqueue_after_commit("order.reserve_inventory", [order.id])
            ojs.enqueue_after_commit("order.charge_payment", [order.id])

        # Transaction committed → outbox relay sends all 3 jobs to OJS
        return Response({"order_id": order.id}, status=201)
    # --- end ---
    return place_order


@pytest.fixture
def run(database, engine, ojs):
    with engine.begin() as connection:
        serial = "INTEGER PRIMARY KEY" if engine.name == "sqlite" else "SERIAL PRIMARY KEY"
        connection.execute(text(f"CREATE TABLE orders (id {serial}, user_id INTEGER, total INTEGER)"))
        connection.execute(text("CREATE TABLE order_items (order_id INTEGER, product_id INTEGER, qty INTEGER CHECK (qty > 0))"))
    url = asyncio_url(database)

    def run(work):
        async def main():
            engine = create_async_engine(url)
            if engine.dialect.name == "sqlite":
                sqlite_savepoints(engine.sync_engine)
            try:
                await work(AsyncDatabase(ojs, engine))
            finally:
                await engine.dispose()

        asyncio.run(main())

    return run


def order(*quantities):
    items = [SimpleNamespace(product_id=number, quantity=quantity) for number, quantity in enumerate(quantities)]
    return SimpleNamespace(user_id=7, total=100, items=items)


def test_the_order_flow(run, sent):
    async def work(db):
        place_order = handler(db, db)
        with pytest.raises(Exception, match="(?i)check|constraint"):
            await place_order(order(1, 0))
        answer = await place_order(order(1, 2))
        assert answer["status"] == 201

    run(work)
    assert [job.type for job in sent(3)] == ["order.confirm_email", "order.reserve_inventory", "order.charge_payment"]


def test_savepoints_and_no_transaction(run, sent):
    async def work(db):
        async with db.transaction():
            db.enqueue_after_commit("a", [1])
            with pytest.raises(ZeroDivisionError):
                async with db.transaction():
                    db.enqueue_after_commit("a", [2])
                    _ = 1 / 0
            async with db.transaction():
                db.enqueue_after_commit("a", [3])
        assert db.enqueue_after_commit("b", [4]).state == "available"

    run(work)
    assert sorted((job.type, job.args) for job in sent(3)) == [("a", [1]), ("a", [3]), ("b", [4])]
