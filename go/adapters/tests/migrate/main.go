// Migrate migrates the outbox tables that its input names, see tests/migrations/run.py.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"log"
	"net/url"
	"os"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/openjobspec/ojs-go"
)

func main() {
	if err := migrate(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func migrate(ctx context.Context, place string) error {
	dialect, pool, err := open(place)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pool.PingContext(ctx); err != nil {
		return err
	}
	client, err := ojs.NewClient("memory:")
	if err != nil {
		return err
	}
	defer client.Close()
	fmt.Println("ready")
	tables := bufio.NewScanner(os.Stdin)
	for tables.Scan() {
		outbox, err := ojs.NewOutbox(ctx, client, ojs.OutboxOptions{
			DB: pool, Dialect: dialect, Table: tables.Text(), SeparateRelay: true, SameDatabase: ojs.Bool(false), Migrate: true,
		})
		if err != nil {
			return err
		}
		if err := outbox.Close(ctx); err != nil {
			return err
		}
		fmt.Println("done")
	}
	return tables.Err()
}

func open(place string) (dialect string, pool *sql.DB, err error) {
	parts, err := url.Parse(place)
	if err != nil {
		return "", nil, err
	}
	if parts.Scheme != "mysql" {
		pool, err = sql.Open("pgx", place)
		return ojs.PostgreSQL, pool, err
	}
	password, _ := parts.User.Password()
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = parts.User.Username(), password, "tcp", parts.Host
	config.DBName = parts.Path[1:]
	pool, err = sql.Open("mysql", config.FormatDSN())
	return ojs.MySQL, pool, err
}
