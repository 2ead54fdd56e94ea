//go:build cgo

package ojs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sqlDatabase is a pool of database/sql as an outbox needs it.
type sqlDatabase struct{ *sql.DB }

func (d sqlDatabase) TextRows(ctx context.Context, query string) ([][]string, error) {
	return textRows(ctx, d.DB, query)
}

// textRows reads with whatever can read.
func textRows(ctx context.Context, from any, query string) (found [][]string, err error) {
	if adapter, ok := from.(interface {
		TextRows(ctx context.Context, query string) ([][]string, error)
	}); ok {
		return adapter.TextRows(ctx, query)
	}
	reader, ok := from.(interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	})
	if !ok {
		return nil, invalid("%T cannot run queries: it has neither QueryContext nor TextRows", from)
	}
	rows, err := reader.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	values, err := readRows(rows)
	for _, row := range values {
		texts := make([]string, len(row))
		for i, value := range row {
			if value != nil {
				texts[i] = fmt.Sprint(value)
			}
		}
		found = append(found, texts)
	}
	return found, err
}

// readRows reads all rows, as JSON can have them, and closes them.
func readRows(rows *sql.Rows) ([][]any, error) {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	found := [][]any{}
	for rows.Next() {
		row, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for i, value := range row {
			if raw, ok := value.([]byte); ok {
				row[i] = string(raw)
			}
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// Staged are the jobs that are not sent yet as this transaction sees them, its own included: for tests, which roll back afterwards. Package
// ojstest makes assertions of it.
func (o *Outbox) Staged(ctx context.Context, tx Transaction) ([]Job, error) {
	query, err := stagedQuery(o.options.Dialect, o.options.Table, o.same.known())
	if err != nil {
		return nil, err
	}
	rows, err := textRows(ctx, tx, query)
	if err != nil {
		return nil, writeError(err, o.options.Table)
	}
	jobs := []Job{}
	for _, row := range rows {
		options := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(row[3]), &options); err != nil {
			return nil, err
		}
		body, err := encode(Obj{"id": row[0], "type": row[1], "args": json.RawMessage(row[2]), "meta": options["meta"], "options": options})
		if err != nil {
			return nil, err
		}
		job, err := requestedJob(body)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, *job)
	}
	return jobs, nil
}

// refuseSharedFile: two copies of SQLite in one process that open the same file destroy it.
func refuseSharedFile(ctx context.Context, client *Client, options OutboxOptions) error {
	path, embedded := strings.CutPrefix(client.url, "sqlite:")
	if options.Dialect != SQLite || !embedded {
		return nil
	}
	path, _, _ = strings.Cut(path, "?")
	rows, err := textRows(ctx, options.DB, "SELECT file FROM pragma_database_list WHERE name = 'main'")
	if err != nil {
		return err
	}
	if len(rows) == 1 && rows[0][0] != "" && sameFile(path, rows[0][0]) {
		return invalid("the client's jobs and the application share the SQLite file %s: two copies of SQLite would open it, and destroy it;"+
			" give the jobs a file of their own", path)
	}
	return nil
}

func sameFile(one, other string) bool {
	first, err := os.Stat(one)
	second, wrong := os.Stat(other)
	if err == nil && wrong == nil {
		return os.SameFile(first, second)
	}
	one, _ = filepath.Abs(one)
	other, _ = filepath.Abs(other)
	return one == other
}

// writeError says what to do about an error of the database.
func writeError(err error, table string) error {
	ours := &Error{
		Class: ErrNotEnqueued, Code: "outbox_write_failed", Message: "the job could not be written to " + table + ": " + err.Error(), cause: err,
	}
	var state interface{ SQLState() string }
	code, message := "", strings.ToLower(err.Error())
	if errors.As(err, &state) {
		code = state.SQLState()
	}
	switch {
	// MySQL's driver has its numbers in the text alone.
	case code == "25006" || strings.Contains(message, "1792 (25006)") || strings.Contains(message, "readonly database") || strings.Contains(message, "read-only"):
		ours.Code, ours.Hint = "read_only_transaction", "enqueue in a transaction that may write, or send the job now with Enqueue"
	case code == "42P01" || strings.Contains(message, "1146 (42s02)") || strings.Contains(message, "no such table"):
		ours.Code = "no_outbox_table"
		ours.Message = "there is no table " + table + ": run 'outbox.Migrate(ctx)' once, or 'ojs relay migrate'"
		ours.Hint = "OutboxOptions.Migrate makes it at every start; Outbox.Migration gives the statements to a migration tool"
	case code == "25P02" || errors.Is(err, sql.ErrTxDone) || errors.Is(err, sql.ErrConnDone):
		ours.Code, ours.Hint = "transaction_over", "an earlier statement has failed, or the transaction has ended: begin another one"
	}
	return ours
}

// isBusy says that another connection to the SQLite file is writing.
func isBusy(err error) bool {
	message := strings.ToLower(err.Error())
	return strings.Contains(message, "locked") || strings.Contains(message, "busy")
}
