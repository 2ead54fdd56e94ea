// Command database_sql: a transaction of database/sql (pgx below it) with one row, without and with ojs.EnqueueAfterCommit.
package main

import (
	"context"
	"database/sql"
	"log"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/openjobspec/ojs-go"
	turns "github.com/openjobspec/ojs-go/benches/adapters"
)

func signUp(ctx context.Context, db *ojs.DB, staged bool) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var id int
	if err := tx.QueryRowContext(ctx, "INSERT INTO users (email) VALUES ($1) RETURNING id", "ada@example.com").Scan(&id); err != nil {
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
	pool, err := sql.Open("pgx", t.URL)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, "CREATE TABLE users (id bigserial PRIMARY KEY, email text)"); err != nil {
		return err
	}
	options := ojs.OutboxOptions{DB: pool, Dialect: ojs.PostgreSQL, SeparateRelay: true, SameDatabase: ojs.Bool(false), Migrate: true}
	outbox, err := ojs.NewOutbox(ctx, client, options)
	if err != nil {
		return err
	}
	defer outbox.Close(ctx)
	if err := t.Each(func(staged bool) error { return signUp(ctx, outbox.DB(), staged) }); err != nil {
		return err
	}
	var rows int
	if err := pool.QueryRowContext(ctx, "SELECT count(*) FROM ojs_outbox").Scan(&rows); err != nil {
		return err
	}
	return t.Report("Go, database/sql", rows)
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
