package ojspgx

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestHowThePoolConnectsIsWrittenDownForTheRelay(t *testing.T) {
	for given, want := range map[string]string{
		"postgres://app:p%40ss%20+@db.example:6543/the%20shop?sslmode=disable": "postgres://app:p%40ss%20%2B@db.example:6543/the%20shop?sslmode=disable",
		"host=/run/pg user=app dbname=shop":                                    "postgres://app@%2Frun%2Fpg:5432/shop?sslmode=disable",
		"postgres://app@db/shop?sslmode=require":                               "postgres://app@db:5432/shop?sslmode=require",
		"postgres://app@db/shop?sslmode=prefer":                                "postgres://app@db:5432/shop?sslmode=prefer",
		"postgres://app@db/shop?sslmode=verify-full":                           "postgres://app@db:5432/shop?sslmode=verify-full",
		"postgres://app@db/shop?sslmode=disable&search_path=a,%20b":            `postgres://app@db:5432/shop?options=-c%20search_path%3Da%2C%5C%20b&sslmode=disable`,
	} {
		config, err := pgx.ParseConfig(given)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := relayURL(config); err != nil || got != want {
			t.Errorf("%s:\n got %s %v\nwant %s", given, got, err, want)
		}
	}
}
