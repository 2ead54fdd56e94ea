// Command pgx: a transaction of pgx with one row, without and with ojs.EnqueueAfterCommit.
package main

import (
	"context"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/openjobspec/ojs-go"
	ojspgx "github.com/openjobspec/ojs-go/adapters/ojs-adapter-pgx"
	turns "github.com/openjobspec/ojs-go/benches/adapters"
)

func signUp(ctx context.Context, db *ojspgx.DB, staged bool) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var id int
	if err := tx.QueryRow(ctx, "INSERT INTO users (email) VALUES ($1) RETURNING id", "ada@example.com").Scan(&id); err != nil {
		return err
	}
	if staged {
		if _, err := ojs.EnqueueAfterCommit(ctx, tx, "email.welcome", ojs.Args{id}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func run(ctx context.Context) error {
	t, err := turns.New()
	if err != nil {
		return err
	}
	client, err := ojs.NewClient(turns.Server)
	if err != nil {
		return err
	}
	defer client.Close()
	pool, err := pgxpool.New(ctx, t.URL)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "CREATE TABLE users (id bigserial PRIMARY KEY, email text)"); err != nil {
		return err
	}
	db, err := ojspgx.New(ctx, client, pool, ojs.OutboxOptions{SeparateRelay: true, SameDatabase: ojs.Bool(false), Migrate: true})
	if err != nil {
		return err
	}
	defer db.Outbox().Close(ctx)
	if err := t.Each(func(staged bool) error { return signUp(ctx, db, staged) }); err != nil {
		return err
	}
	var rows int
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM ojs_outbox").Scan(&rows); err != nil {
		return err
	}
	return t.Report("Go, pgx", rows)
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
